# Container runtimes. A backend is one file beside this one that fills one record.
{ config, lib, ... }:
let
  inherit (builtins) attrValues filter;
  inherit (lib) mkOption types;

  upstream = import ../upstream.nix { inherit lib; };

  runtime = { name, ... }: {
    options = {
      handler = mkOption {
        type = types.str;
        default = name;
        example = "runsc";
        description = "The name of the handler in containerd's configuration, which the RuntimeClass refers to.";
      };

      runtimeType = mkOption {
        type = types.strMatching {
          pattern = "io[.]containerd[.][a-z0-9-]+[.]v[0-9]+";
          description = "a runtime type of containerd";
          sample = "io.containerd.runc.v2";
        };
        example = "io.containerd.runsc.v1";
        description = "The kind of shim that containerd starts.";
      };

      binary = mkOption {
        type = types.nullOr types.path;
        default = null;
        example = "/opt/gvisor/bin/runsc";
        description = "The runtime's program, when its shim calls one.";
      };

      shim = mkOption {
        type = types.nullOr types.path;
        default = null;
        example = "/opt/gvisor/bin/containerd-shim-runsc-v1";
        description = "The program that containerd starts for each pod; null while the runtime is not at hand.";
      };

      options = mkOption {
        type = types.attrsOf (types.oneOf [ types.str types.bool types.int ]);
        default = { };
        example = { SystemdCgroup = false; };
        description = "The handler's options in containerd's configuration, under containerd's own names.";
      };

      config = mkOption {
        type = types.nullOr types.str;
        default = null;
        example = "[runsc_config]\nplatform = \"kvm\"\n";
        description = "The text of the runtime's own configuration file, when it has one.";
      };

      overheadCpuMillicores = mkOption {
        type = types.nullOr types.positiveInt;
        default = null;
        example = 250;
        description = "The CPU that the runtime itself adds to each pod, in thousandths of a CPU, as the scheduler counts it.";
      };

      overheadMemoryMiB = mkOption {
        type = types.nullOr types.positiveInt;
        default = null;
        example = 160;
        description = "The memory that the runtime itself adds to each pod, in MiB, as the scheduler counts it.";
      };

      requires = mkOption {
        type = types.listOf (types.enum [
          "cap-sys-resource"
          "cgroup"
          "kvm-guests"
          "mount-namespaces"
          "netfilter"
          "network-namespaces"
          "overlayfs"
          "root"
          "vhost-vsock"
        ]);
        default = [ ];
        example = [ "kvm-guests" ];
        description = "What the machine must be capable of, in the words of `tare doctor`. Without it the level is not run, and the report says why.";
      };

      upstream = mkOption {
        type = types.nullOr (types.submodule upstream);
        default = null;
        example = { name = "kata"; version = "3.2.0"; url = "https://example.org/kata-static-3.2.0-amd64.tar.xz"; };
        description = "The artifact of the channel `upstream` that the runtime is made of, when no registry carries it.";
      };
    };
  };

  shims = filter (shim: shim != null) (map (runtime: runtime.shim) (attrValues config.runtimes));
in
{
  options.runtimes = mkOption {
    type = types.attrsOf (types.submodule runtime);
    default = { };
    defaultText = "runc, gvisor and kata";
    example = { crun = { runtimeType = "io.containerd.runc.v2"; binary = "/opt/crun/bin/crun"; }; };
    description = "The container runtimes a pod can ask for; each becomes a RuntimeClass of that name.";
  };

  config.cluster.nodePath = map builtins.dirOf shims;
}
