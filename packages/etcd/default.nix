{ goPackage }:
goPackage {
  name = "etcd";
  version = "3.5.10";
  source = ./.;
  commands.etcd = "go.etcd.io/etcd/server/v3";
}
