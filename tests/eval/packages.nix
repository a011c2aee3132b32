# Stand-ins for the packages: what modules do with one is to write its path.
builtins.listToAttrs (map
  (name: { inherit name; value = { outPath = "/nix/store/00000000000000000000000000000000-${name}"; }; })
  [
    "busybox"
    "caliper"
    "cni-plugins"
    "containerd"
    "etcd"
    "fabric" "fabric-sampleconfig"
    "fabric-ca"
    "gvisor"
    "image-coredns"
    "image-fabric-ca"
    "image-fabric-chaincode"
    "image-fabric-orderer"
    "image-fabric-peer"
    "image-pause"
    "kata"
    "kubernetes"
    "nodejs"
    "python"
    "runc-fit"
    "system"
    "wrk"
  ])
