# Everything a lab can be made of, one package a folder, listed explicitly.
{ build }:
let
  call = folder: import folder (builtins.intersectAttrs (builtins.functionArgs (import folder)) (build // packages));

  image =
    name: tag: files: config:
    build.ociImage { inherit name tag files config; };

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

    consul = call ./consul;
    envoy = call ./envoy;
    istio = call ./istio;
    kuma = call ./kuma;
    vegeta = call ./vegeta;
    fortio = call ./fortio;
    sidecar-base = call ./sidecar-base;

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
  };
in
packages
