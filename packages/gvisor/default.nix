# runsc and its containerd shim. Built with a newer Go, the sandbox dies on its first network call.
{ goPackage }:
goPackage {
  name = "gvisor";
  version = "20240916.0";
  source = ./.;
  go = "1.22.7";
  commands = {
    runsc = "gvisor.dev/gvisor/runsc";
    containerd-shim-runsc-v1 = "gvisor.dev/gvisor/shim";
  };
  ldflags = "-X gvisor.dev/gvisor/runsc/version.version=20240916.0";
  patches = [ ./shim-oom-score.patch ];
}
