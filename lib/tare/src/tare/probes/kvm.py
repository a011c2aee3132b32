"""Run the smallest guest that tells: 64-bit code behind page tables that adds two numbers with SSE2 and halts.

/dev/kvm alone proves nothing, and a lone HLT in real mode little: a KVM that cannot use the
processor's virtualisation (kvm_pvm, say) interprets the few instructions it knows, which are
enough for a HLT and too few for any ordinary kernel.
"""

import ctypes
import fcntl
import json
import mmap
import os
import struct
import sys

# From <linux/kvm.h>: numbers of requests, and sizes of structures.
GET_API_VERSION = 0xAE00
CREATE_VM = 0xAE01
GET_VCPU_MMAP_SIZE = 0xAE04
CREATE_VCPU = 0xAE41
SET_USER_MEMORY_REGION = 0x4020AE46
RUN = 0xAE80
SET_REGS = 0x4090AE82
GET_SREGS = 0x8138AE83
SET_SREGS = 0x4138AE84
SREGS_BYTES = 0x138
EXIT_HLT = 5
EXIT_INTERNAL_ERROR = 17

MEMORY_BYTES = 2 << 20  # one large page, which maps itself
TABLES = (0x1000, 0x2000, 0x3000)  # page map level 4, directory pointers, directory
CODE = 0x4000
PRESENT_WRITABLE = 0b11
LARGE_PAGE = 0x80
PROGRAM = bytes.fromhex("f20f58c1f4")  # addsd xmm0, xmm1; hlt

CR0 = 0x80000033  # paging, protected mode, and the floating-point unit as a 64-bit kernel sets it
CR4 = 0x620  # physical address extension, SSE state and exceptions
EFER = 0x500  # long mode enabled and active


def segment(selector: int, kind: int, *, code: bool) -> bytes:
    """Return a flat struct kvm_segment; ``kind`` is its descriptor type."""
    return struct.pack("QIHBBBBBBBBBx", 0, 0xFFFFFFFF, selector, kind, 1, 0, not code, 1, code, 1, 0, 0)


def run_guest() -> tuple[bool, str]:
    """Return whether the guest ran to its end, and what was seen."""
    step = "open /dev/kvm"
    try:
        kvm = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
        step = "ask for the version"
        version = fcntl.ioctl(kvm, GET_API_VERSION, 0)
        step = "create a virtual machine"
        vm = fcntl.ioctl(kvm, CREATE_VM, 0)
        step = "give it memory"
        memory = mmap.mmap(-1, MEMORY_BYTES)
        for table, entry in zip(TABLES, (*TABLES[1:], LARGE_PAGE), strict=True):
            struct.pack_into("Q", memory, table, entry | PRESENT_WRITABLE)
        memory[CODE : CODE + len(PROGRAM)] = PROGRAM
        address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        fcntl.ioctl(vm, SET_USER_MEMORY_REGION, struct.pack("IIQQQ", 0, 0, 0, MEMORY_BYTES, address))
        step = "create a virtual CPU"
        cpu = fcntl.ioctl(vm, CREATE_VCPU, 0)
        shared = mmap.mmap(cpu, fcntl.ioctl(kvm, GET_VCPU_MMAP_SIZE, 0))
        step = "set its registers"
        special = bytearray(SREGS_BYTES)
        fcntl.ioctl(cpu, GET_SREGS, special)
        special[:144] = segment(8, 11, code=True) + segment(16, 3, code=False) * 5  # cs, then ds es fs gs ss
        for offset, value in ((224, CR0), (240, TABLES[0]), (248, CR4), (264, EFER)):
            struct.pack_into("Q", special, offset, value)
        fcntl.ioctl(cpu, SET_SREGS, bytes(special))
        fcntl.ioctl(cpu, SET_REGS, struct.pack("18Q", *[0] * 16, CODE, 2))  # ..., instruction pointer, flags
        step = "run the guest"
        fcntl.ioctl(cpu, RUN, 0)
    except OSError as error:
        return False, f"cannot {step}: {error.strerror}"
    (reason,) = struct.unpack_from("I", shared, 8)
    if reason == EXIT_HLT:
        return True, f"KVM API {version} ran a 64-bit guest to its end"
    named = " (internal error: this KVM interprets guests)" if reason == EXIT_INTERNAL_ERROR else ""
    return False, f"/dev/kvm is there, but a 64-bit guest of two instructions ended with exit reason {reason}{named}"


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"kvm-guests": run_guest()}))
