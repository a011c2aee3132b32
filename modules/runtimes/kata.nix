# Kata Containers: a virtual machine for each pod. Its guest kernel, image and QEMU come in the publisher's
# archive, which no registry carries: while packages.kata does not exist, the runtime is declared but not at hand.
{ lib, packages, ... }:
let
  inherit (lib) mkDefault;
  pin = (builtins.fromTOML (builtins.readFile ../../lib/pins/upstream.toml)).kata;
  root = if packages ? kata then "${packages.kata}/opt/kata" else null;
  whenAtHand = value: mkDefault (if root == null then null else value);
in
{
  runtimes.kata = {
    runtimeType = mkDefault "io.containerd.kata.v2";
    shim = whenAtHand "${root}/bin/containerd-shim-kata-v2";
    # As the archive's own configuration-qemu.toml, with its paths where they are here.
    config = whenAtHand ''
      [hypervisor.qemu]
      path = "${root}/bin/qemu-system-x86_64"
      kernel = "${root}/share/kata-containers/vmlinux.container"
      image = "${root}/share/kata-containers/kata-containers.img"
      rootfs_type = "ext4"
      machine_type = "q35"
      default_vcpus = 1
      default_maxvcpus = 0
      default_bridges = 1
      default_memory = 2048
      shared_fs = "virtio-fs"
      virtio_fs_daemon = "${root}/libexec/virtiofsd"
      virtio_fs_cache = "auto"
      virtio_fs_extra_args = ["--thread-pool-size=1", "--announce-submounts"]
      block_device_driver = "virtio-scsi"
      entropy_source = "/dev/urandom"

      [agent.kata]

      [runtime]
      internetworking_model = "tcfilter"
      disable_guest_seccomp = true
      sandbox_cgroup_only = true
    '';
    overheadCpuMillicores = mkDefault 250;
    overheadMemoryMiB = mkDefault 160;
    requires = [ "kvm-guests" "vhost-vsock" ];
    upstream = {
      name = mkDefault "kata";
      version = mkDefault pin.version;
      url = mkDefault pin.url;
      sha256 = mkDefault pin.sha256;
      path = mkDefault root;
    };
  };
}
