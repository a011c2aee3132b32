"""An experiment on a lab: what is to be measured, in which order, the measuring, and the comparison.

``design`` and ``plan`` and ``compare`` are pure. ``run`` is the loop; the service, the load, the
sampler and the clock are passed in, and each finished trial is handed to whoever keeps it.
"""
