# What secure containers cost Hyperledger Fabric: the study in paper.toml, on this machine.
# Seven containers: one orderer, and for each of two organisations a peer, its chaincode and a CA.
{
  imports = [ ./study.nix ];

  name = "kata-hlf";
  title = "Hyperledger Fabric in secure containers";

  # The study's servers had eight CPUs and two.
  nodes = {
    fabric.cpuWeight = 4;
    client = { };
  };

  services.fabric.enable = true;
  loads.caliper = { enable = true; workload = ./workload; };

  experiment = {
    compare = "runtime";
    baseline = "runc";
    factors = {
      runtime.levels = [ "runc" "gvisor" "kata" ];
      vcpus.levels = [ "shared" ];
      total_cpus.levels = [ 0.5 1.0 ];
      send_rate.levels = [ 50 100 ];
    };

    profiles = {
      quick = {
        description = "A few minutes: whether everything works, and a first figure.";
        durationSeconds = 5;
        levels = { total_cpus = [ 1.0 ]; send_rate = [ 20 ]; };
      };
      study = {
        description = "The study's own levels; for a machine with ten CPUs or more.";
        blocks = 5;
        durationSeconds = 60;
        levels = {
          vcpus = [ "shared" "1:2" "1:3" "1:4" "4:1" ];
          total_cpus = [ 2 4 6 8 ];
          send_rate = [ 300 400 500 600 700 ];
        };
      };
    };
  };
}
