"""One lab's cgroups, on version 1 and on version 2 of the kernel's interface.

Every lab has a subtree of its own, ``tare/<lab>``, at the root of each hierarchy. A path given
to a method is relative to that subtree; the empty path is the subtree itself. Methods that only
read raise OSError when the cgroup is gone, the others CgroupError.
"""

from tare.cgroup.cpus import cpu_list
from tare.cgroup.detect import tree_of
from tare.cgroup.files import CgroupError
from tare.cgroup.pressure import pressure_seconds
from tare.cgroup.tree import CgroupTree, CgroupUsage

__all__ = ["CgroupError", "CgroupTree", "CgroupUsage", "cpu_list", "pressure_seconds", "tree_of"]
