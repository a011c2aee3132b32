# Everything a lab can be made of, one package a folder, listed explicitly.
{ build }:
let
  call = folder: import folder (builtins.intersectAttrs (builtins.functionArgs (import folder)) (build // packages));

  image =
    name: tag: files: config:
    build.ociImage { inherit name tag files config; };

  # Beneath what is a mesh's own, so that nodes keep Envoy once for all of them.
  sidecarLayers = [
    { "/" = packages.sidecar-base; }
    { "/usr/local/bin/envoy" = "${packages.envoy}/libexec/envoy"; }
  ];
  sidecarImage =
    name: tag: files: config:
    build.ociImage {
      inherit name tag files;
      below = sidecarLayers;
      config = { Env = [ "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin" ]; } // config;
    };

  packages = {
    inherit (build) busybox compiler kit nodejs;

    system = call ./system;
    python = build.pythonEnv { name = "runtime"; };
    python-dev = build.pythonEnv {
      name = "dev";
      modules = [ "pytest" "mypy" ];
    };
    tare = call ./tare;

    kubernetes = call ./kubernetes;
    etcd = call ./etcd;
    coredns = call ./coredns;
    pause = call ./pause;
    containerd = call ./containerd;
    cni-plugins = call ./cni-plugins;
    runc = call ./runc;
    runc-fit = call ./runc-fit;
    kata = call ./kata;
    gvisor = call ./gvisor;

    fabric = call ./fabric;
    fabric-sampleconfig = build.goModuleData {
      name = "fabric-sampleconfig";
      version = "2.4.4";
      package = "fabric";
      source = ./fabric;
      module = "github.com/hyperledger/fabric";
      paths = [ "sampleconfig" ];
    };
    fabric-ca = call ./fabric-ca;
    fabric-ccaas-builder = build.goProgram "fabric-ccaas-builder" ./fabric-ccaas-builder;
    fabric-chaincode = call ./fabric-chaincode;
    caliper = build.npmPackage {
      name = "caliper";
      version = "0.6.0";
      source = ./caliper;
    };
    wrk = call ./wrk;

    consul = call ./consul;
    envoy = call ./envoy;
    istio = call ./istio;
    istio-bootstrap = build.goModuleData {
      name = "istio-bootstrap";
      version = "1.25.1";
      package = "istio";
      source = ./istio;
      module = "istio.io/istio";
      paths = [ "tools/packaging/common/envoy_bootstrap.json" ];
    };
    kuma = call ./kuma;
    vegeta = call ./vegeta;
    fortio = call ./fortio;
    tcp-rr = build.goProgram "tcp-rr" ./tcp-rr;
    sidecar-base = call ./sidecar-base;
    istio-manifests = call ./istio-manifests;
    kuma-manifests = call ./kuma-manifests;
    http-server-files = call ./http-server;

    image-pause = image "pause" "3.9" { "/pause" = "${packages.pause}/bin/pause"; } {
      Entrypoint = [ "/pause" ];
      User = "65535:65535";
    };
    image-coredns = image "coredns" "1.11.1" { "/coredns" = "${packages.coredns}/bin/coredns"; } {
      Entrypoint = [ "/coredns" ];
    };
    image-fabric-orderer = image "fabric-orderer" "2.4.4" { "/bin/orderer" = "${packages.fabric}/bin/orderer"; } {
      Entrypoint = [ "/bin/orderer" ];
    };
    image-fabric-peer = image "fabric-peer" "2.4.4" {
      "/bin/peer" = "${packages.fabric}/bin/peer";
      "/builders/ccaas/bin/detect" = packages.fabric-ccaas-builder;
      "/builders/ccaas/bin/build" = packages.fabric-ccaas-builder;
      "/builders/ccaas/bin/release" = packages.fabric-ccaas-builder;
    } { Entrypoint = [ "/bin/peer" ]; };
    image-fabric-ca = image "fabric-ca" "1.5.5" { "/bin/fabric-ca-server" = "${packages.fabric-ca}/bin/fabric-ca-server"; } {
      Entrypoint = [ "/bin/fabric-ca-server" ];
    };
    image-fabric-chaincode = image "fabric-chaincode" "1.0" { "/bin/chaincode" = "${packages.fabric-chaincode}/bin/chaincode"; } {
      Entrypoint = [ "/bin/chaincode" ];
    };

    image-http-server = build.ociImage {
      name = "http-server";
      tag = "1.22.1";
      below = [ { "/" = build.debFiles "nginx"; } ];
      files = {
        "/etc/nginx/nginx.conf" = "${packages.http-server-files}/etc/nginx/nginx.conf";
        "/srv" = "${packages.http-server-files}/srv";
      };
      config = {
        Entrypoint = [ "/usr/sbin/nginx" "-e" "stderr" "-c" "/etc/nginx/nginx.conf" ];
        Cmd = [ "-g" "daemon off; worker_processes 1;" ];
        User = "65535:65535";
      };
    };
    # Waits in the client's pod, where loads are started.
    image-http-client = image "http-client" "1" {
      "/bin/busybox" = "${build.busybox}/bin/busybox";
      "/bin/tcp-rr" = packages.tcp-rr;
      "/bin/vegeta" = "${packages.vegeta}/bin/vegeta";
    } { Entrypoint = [ "/bin/busybox" "sleep" "inf" ]; };
    image-envoy = sidecarImage "envoy" "1.36.2" { } { Entrypoint = [ "/usr/local/bin/envoy" ]; };
    # Istio looks for these two names below one registry.
    image-istio-pilot = image "pilot" "1.25.1" { "/usr/local/bin/pilot-discovery" = "${packages.istio}/bin/pilot-discovery"; } {
      Entrypoint = [ "/usr/local/bin/pilot-discovery" ];
      User = "1337:1337";
    };
    image-istio-proxyv2 = sidecarImage "proxyv2" "1.25.1" {
      "/usr/local/bin/pilot-agent" = "${packages.istio}/bin/pilot-agent";
      "/var/lib/istio/envoy/envoy_bootstrap_tmpl.json" = "${packages.istio-bootstrap}/envoy_bootstrap.json";
    } { Entrypoint = [ "/usr/local/bin/pilot-agent" ]; };
    image-consul = sidecarImage "consul" "1.21.0" {
      "/bin/busybox" = "${build.busybox}/bin/busybox";
      "/bin/consul" = "${packages.consul}/bin/consul";
    } { Entrypoint = [ "/bin/consul" ]; };
    image-kuma-cp = image "kuma-cp" "2.9.2" { "/usr/bin/kuma-cp" = "${packages.kuma}/bin/kuma-cp"; } {
      Entrypoint = [ "/usr/bin/kuma-cp" ];
      # Its manifest refuses root, as which images run that name nobody.
      User = "5678:5678";
    };
    image-kuma-dp = sidecarImage "kuma-dp" "2.9.2" { "/usr/bin/kuma-dp" = "${packages.kuma}/bin/kuma-dp"; } {
      Entrypoint = [ "/usr/bin/kuma-dp" ];
    };
    image-kuma-init = sidecarImage "kuma-init" "2.9.2" {
      "/usr/bin/kumactl" = "${packages.kuma}/bin/kumactl";
      # The user whose packets are let past the sidecar is looked up.
      "/etc/passwd" = builtins.toFile "passwd" "root:x:0:0::/:\nkuma-dp:x:5678:5678::/:\n";
    } {
      Entrypoint = [ "/usr/bin/kumactl" ];
      Cmd = [ "install" "transparent-proxy" ];
    };
  }
  // (if build.isPinned "linkerd" then { linkerd = call ./linkerd; } else { })
  // (if !build.hasDebian "netperf" then { } else {
    netperf = call ./netperf;
    # Debian's tree as it is, with the copyright that its licence wants beside the program.
    image-netserver = build.ociImage {
      name = "netserver";
      tag = "2.7.0";
      below = [ { "/" = build.debFiles "netperf"; } ];
      files = { };
      config = {
        # In the foreground, over IPv4, and with no file of its own to debug it by.
        Entrypoint = [ "/usr/bin/netserver" "-D" "-4" "-N" ];
        User = "65535:65535";
      };
    };
  });
in
packages
