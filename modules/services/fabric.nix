# A Hyperledger Fabric network: orderers with raft, and for each organisation peers, chaincode as a service and a CA.
{ config, lib, packages, ... }:
let
  inherit (builtins) attrNames listToAttrs;
  inherit (lib) mkDefault mkIf mkOption types;

  cfg = config.services.fabric;

  inNetwork = "in the network, as members of one raft";
  perOrganization = "for each organisation";
  nodeTypes = {
    orderer = { image = "tare.local/fabric-orderer:2.4.4"; package = packages.image-fabric-orderer; scope = inNetwork; };
    peer = { image = "tare.local/fabric-peer:2.4.4"; package = packages.image-fabric-peer; scope = perOrganization; };
    chaincode = { image = "tare.local/fabric-chaincode:1.0"; package = packages.image-fabric-chaincode; scope = perOrganization; };
    ca = { image = "tare.local/fabric-ca:1.5.5"; package = packages.image-fabric-ca; scope = perOrganization; };
  };
  perNodeType = make: listToAttrs (map make (attrNames nodeTypes));

  metric = unit: better: description: {
    unit = mkDefault unit;
    better = mkDefault better;
    description = mkDefault description;
  };

  nodeTypeOptions = type: {
    image = mkOption {
      type = types.str;
      default = nodeTypes.${type}.image;
      example = "tare.local/fabric-${type}:2.5.0";
      description = "The image of the ${type} containers; one of `images`.";
    };

    replicas = mkOption {
      type = types.positiveInt;
      default = 1;
      example = 3;
      description = "How many ${type} containers there are ${nodeTypes.${type}.scope}.";
    };

    runtimeClass = mkOption {
      type = types.nullOr types.str;
      default = null;
      example = "runc";
      description = "The runtime of the ${type} containers, whatever the experiment's level of `runtime`; one of `runtimes`.";
    };

    vcpus = mkOption {
      type = types.nullOr types.positiveNumber;
      default = null;
      example = 2;
      description = "The CPU limit of each ${type} container, in CPUs; null leaves it to the node.";
    };

    memoryMiB = mkOption {
      type = types.nullOr types.positiveInt;
      default = null;
      example = 512;
      description = "The memory limit of each ${type} container, in MiB; null leaves it to the node.";
    };
  };
in
{
  options.services.fabric = {
    enable = mkOption {
      type = types.bool;
      default = false;
      example = true;
      description = "Whether the lab has a Hyperledger Fabric network.";
    };

    node = mkOption {
      type = types.str;
      default = "fabric";
      example = "server";
      description = "The node on which all of the network's pods run.";
    };

    channel = mkOption {
      type = types.strMatching { pattern = "[a-z][a-z0-9.-]{0,248}"; description = "the name of a channel"; sample = "bench"; };
      default = "bench";
      example = "payments";
      description = "The channel that transactions go through.";
    };

    organizations = mkOption {
      type = types.intBetween 1 8;
      default = 2;
      example = 4;
      description = "How many organisations take part; all of them endorse every transaction.";
    };

    batchTimeoutSeconds = mkOption {
      type = types.positiveNumber;
      default = 2;
      example = 0.5;
      description = "How long the orderer waits for more transactions before it cuts a block, in seconds.";
    };

    batchMaxMessages = mkOption {
      type = types.positiveInt;
      default = 500;
      example = 10;
      description = "How many transactions a block holds at most.";
    };

    readyTimeoutSeconds = mkOption {
      type = types.positiveNumber;
      default = 180;
      example = 600;
      description = "How long the network may take until its first transaction is committed, in seconds.";
    };

    nodeTypes = builtins.mapAttrs (type: _: nodeTypeOptions type) nodeTypes;

    tools = mkOption {
      type = types.attrsOf types.path;
      default = { };
      defaultText = "the programs of packages.fabric and packages.fabric-ca";
      example = { peer = "/opt/fabric/bin/peer"; };
      description = "The programs that set the network up, name to absolute path.";
    };

    sampleConfig = mkOption {
      type = types.path;
      default = "${packages.fabric-sampleconfig}/sampleconfig";
      example = "/opt/fabric/config";
      description = "The folder with the default core.yaml and orderer.yaml.";
    };
  };

  config = mkIf cfg.enable {
    images = perNodeType (type: { name = nodeTypes.${type}.image; value = mkDefault nodeTypes.${type}.package; });

    services.fabric.tools =
      let from = package: names: listToAttrs (map (name: { inherit name; value = mkDefault "${package}/bin/${name}"; }) names);
      in from packages.fabric [ "configtxgen" "cryptogen" "orderer" "osnadmin" "peer" ]
        // from packages.fabric-ca [ "fabric-ca-client" "fabric-ca-server" ];

    experiment = {
      service = mkDefault "fabric";

      factors = {
        runtime = {
          levels = mkDefault [ "runc" ];
          scope = mkDefault "deployment";
          description = mkDefault "The container runtime of the Fabric containers.";
        };
        vcpus = {
          levels = mkDefault [ "shared" ];
          scope = mkDefault "deployment";
          description = mkDefault "CPU limits of an orderer and a peer, as orderer:peer; shared sets none.";
        };
        total_cpus = {
          levels = mkDefault [ 1.0 ];
          scope = mkDefault "run";
          unit = mkDefault "cpu";
          description = mkDefault "CPUs that all Fabric containers have together, as a CFS quota.";
        };
      };

      metrics = {
        cpu_per_request = metric "s" "lower" "CPU time of all of the service's containers for each request that succeeded.";
        cpu_total = metric "cpu" "lower" "CPUs that the Fabric containers used on average.";
      }
      // perNodeType (type: {
        name = "cpu_${type}";
        value = metric "cpu" "lower" "CPUs that the ${type} containers used on average.";
      })
      // perNodeType (type: {
        name = "memory_${type}";
        value = metric "B" "lower" "Memory that the ${type} containers held on average.";
      });
    };
  };
}
