# Rules between options. Each is a list of what breaks it; all are checked, and reported with the errors of type.
{ config, lib, ... }:
let
  inherit (builtins)
    all attrNames attrValues concatLists concatMap concatStringsSep elem elemAt filter fromJSON genList head isList isString length match
    split;
  inherit (lib) ipv4 nearest show;
  inherit (config) experiment loads network nodes runtimes services;

  isNumber = value: builtins.isInt value || builtins.isFloat value;
  listed = values: concatStringsSep ", " (map show.text values);

  # One violation: the option, what was expected, what was found, how to mend it.
  violation = option: expected: found: mend: {
    inherit option;
    message = "expected ${expected}, found ${show.found found}.${if mend == null then "" else " ${mend}"}";
  };
  unless = holds: broken: if holds then [ ] else [ broken ];

  # A name that must be one of those that are declared elsewhere.
  refers = option: what: names: found:
    let near = nearest names found; in
    unless (elem found names) (violation option
      (if names == [ ] then "${what}, of which there is none" else "${what} (${concatStringsSep ", " names})")
      found
      (if near == null then null else "Write ${show.text near}."));

  ## Networks

  ranges = map
    (name: { inherit name; cidr = network.${name}; range = ipv4.network network.${name}; })
    [ "nodeCidr" "podCidr" "serviceCidr" ];
  benchmark = ipv4.network "198.18.0.0/15";
  overlap = a: b: a.first <= b.last && b.first <= a.last;
  pairs = list: concatLists (genList (i: genList (j: { one = elemAt list j; other = elemAt list i; }) i) (length list));

  ## CPU sets

  # "0-2,5" => [ 0 1 2 5 ]
  cpusOf = text:
    let
      span = part:
        let
          ends = match "([0-9]+)(-([0-9]+))?" part;
          first = fromJSON (head ends);
          last = if elemAt ends 2 == null then first else fromJSON (elemAt ends 2);
        in
        genList (index: first + index) (if last < first then 0 else last - first + 1);
    in
    concatMap span (filter isString (split "," text));
  pinned = map (name: { inherit name; text = nodes.${name}.cpus; cpus = cpusOf nodes.${name}.cpus; })
    (filter (name: nodes.${name}.cpus != null) (attrNames nodes));

  ## Node types of Fabric

  inherit (services.fabric) nodeTypes;
  nodeTypeAt = type: name: [ "services" "fabric" "nodeTypes" type name ];

  ## Sides

  secondSideAt = name: [ "experiment" "secondSide" name ];
  # What stands on the first side: the service under test, and every load.
  firstSide = [ services.${experiment.service}.node ]
    ++ map (name: loads.${name}.node) (filter (name: loads.${name}.enable) (attrNames loads));
  ofSecondSide = check: if experiment.secondSide == null then [ ] else
  concatMap (name: check (secondSideAt name) experiment.secondSide.${name}) [ "serviceNode" "loadNode" ];

  ## Levels

  factorAt = name: [ "experiment" "factors" name "levels" ];
  profileAt = profile: name: [ "experiment" "profiles" profile "levels" name ];

  # Every list of levels a factor is given: its own and that of each profile.
  lists = map
    (name: { inherit name; option = factorAt name; inherit (experiment.factors.${name}) levels; })
    (attrNames experiment.factors)
  ++ concatMap
    (profile: map
      (name: { inherit name; option = profileAt profile name; levels = experiment.profiles.${profile}.levels.${name}; })
      (attrNames experiment.profiles.${profile}.levels))
    (attrNames experiment.profiles);
  eachLevel = name: check: concatMap
    (list: concatLists (genList (index: check (list.option ++ [ index ]) (elemAt list.levels index)) (length list.levels)))
    (filter (list: list.name == name) lists);
  attributionAt = name: index: [ "experiment" "attributions" name index "level" ];
  eachStep = check: concatMap
    (name:
      let steps = experiment.attributions.${name}; in
      concatLists (genList (index: check name index (map (step: step.level) steps)) (length steps)))
    (attrNames experiment.attributions);
  distinct = list: all (value: length (filter (other: other == value) list) == 1) list;
  quantity = name: eachLevel name (option: level:
    unless (isNumber level && level > 0) (violation option "a positive number" level null));
in
{
  assertions = {
    "networks lie in the range for benchmarks" = concatMap
      ({ name, cidr, range }: unless (benchmark.first <= range.first && range.last <= benchmark.last)
        (violation [ "network" name ] "a network inside 198.18.0.0/15, set aside for benchmarks (RFC 2544)" cidr null))
      ranges;

    "networks do not overlap" = concatMap
      ({ one, other }: unless (!(overlap one.range other.range))
        (violation [ "network" other.name ] "a network apart from network.${one.name} (${one.cidr})" other.cidr null))
      (pairs ranges);

    "the DNS server has a service address" =
      let
        services = ipv4.network network.serviceCidr;
        dns = ipv4.address network.dnsAddress;
      in
      unless (services.first < dns && dns < services.last)
        (violation [ "network" "dnsAddress" ] "an address inside network.serviceCidr (${network.serviceCidr})" network.dnsAddress null);

    "there is a node" = unless (nodes != { }) (violation [ "nodes" ] "at least one node" nodes "Write nodes.fabric = { };");

    "nodes have names that Kubernetes takes" = concatMap
      (name: unless (match "[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?" name != null)
        (violation [ "nodes" name ] "a name of small letters, digits and hyphens, 32 at most" name null))
      (attrNames nodes);

    "CPU sets go upwards" = concatMap
      ({ name, text, cpus }: unless (cpus != [ ]) (violation [ "nodes" name "cpus" ] "ranges that go upwards" text null))
      pinned;

    "CPU sets are disjoint" = concatMap
      ({ one, other }: unless (!(builtins.any (cpu: elem cpu one.cpus) other.cpus))
        (violation [ "nodes" other.name "cpus" ] "CPUs apart from those of nodes.${one.name} (${one.text})" other.text null))
      (pairs pinned);

    "the service under test is enabled" = unless services.${experiment.service}.enable
      (violation [ "experiment" "service" ] "a service that is enabled" experiment.service "Write services.${experiment.service}.enable = true;");

    "something drives the service" = unless (experiment.loads != [ ])
      (violation [ "experiment" "loads" ] "at least one load" experiment.loads null);

    "the loads are enabled" = concatMap
      (name:
        let option = if name == "tcp_rr" then "tcpRr" else name; in
        unless loads.${option}.enable
          (violation [ "experiment" "loads" ] "loads that are enabled" name "Write loads.${option}.enable = true;"))
      experiment.loads;

    "Fabric runs on a node" = if !services.fabric.enable then [ ] else
    refers [ "services" "fabric" "node" ] "the name of a node" (attrNames nodes) services.fabric.node;

    "Fabric's images are there" = if !services.fabric.enable then [ ] else
    concatMap
      (type: refers (nodeTypeAt type "image") "one of the images" (attrNames config.images) nodeTypes.${type}.image)
      (attrNames nodeTypes);

    "Fabric's own runtimes are declared" = if !services.fabric.enable then [ ] else
    concatMap
      (type: refers (nodeTypeAt type "runtimeClass") "a runtime" (attrNames runtimes) nodeTypes.${type}.runtimeClass)
      (filter (type: nodeTypes.${type}.runtimeClass != null) (attrNames nodeTypes));

    "the HTTP server and its client run on nodes" = if !services.http.enable then [ ] else
    concatMap
      (side: refers [ "services" "http" side "node" ] "the name of a node" (attrNames nodes) services.http.${side}.node)
      [ "server" "client" ];

    "the HTTP server's and its client's images are there" = if !services.http.enable then [ ] else
    concatMap
      (side: refers [ "services" "http" side "image" ] "one of the images" (attrNames config.images) services.http.${side}.image)
      [ "server" "client" ];

    "netperf is used where it is at hand" = unless
      (!services.http.enable || services.http.server.roundTripProgram != "netperf" || loads.tcpRr.netperf != null)
      (violation [ "services" "http" "server" "roundTripProgram" ] "tcp-rr, for lib/pins/debian.toml leaves netperf out" "netperf" null);

    "single bytes are called at the port at which they are answered" = if !services.http.enable then [ ] else
    concatMap
      (mesh: concatMap
        (name:
          let inherit (config.meshes.${mesh}.arms.${name}) roundTrip; in
          unless (roundTrip == null || roundTrip.port == services.http.server.roundTripPort)
            (violation [ "meshes" mesh "arms" name "roundTrip" "port" ]
              "services.http.server.roundTripPort (${toString services.http.server.roundTripPort}), which netperf calls whatever is between"
              roundTrip.port
              null))
        (attrNames config.meshes.${mesh}.arms))
      (attrNames config.meshes);

    "arms that are compared are a mesh's" =
      let arms = concatMap (mesh: attrNames mesh.arms) (attrValues config.meshes); in
      eachLevel "arm" (option: level: refers option "an arm of one of the meshes" arms level);

    "arms have names of their own" =
      let
        arms = concatMap (mesh: map (arm: { inherit mesh arm; }) (attrNames config.meshes.${mesh}.arms)) (attrNames config.meshes);
      in
      concatMap
        ({ one, other }: unless (one.arm != other.arm)
          (violation [ "meshes" other.mesh "arms" ] "a name that meshes.${one.mesh} does not have" other.arm null))
        (pairs arms);

    "payloads are files that the server has" = eachLevel "payload_bytes" (option: level:
      unless (elem level services.http.server.payloadBytes)
        (violation option "a size in services.http.server.payloadBytes (${listed services.http.server.payloadBytes})" level null));

    "connections are kept or closed" = eachLevel "connection" (option: level:
      refers option "what is done with connections" [ "keep-alive" "close" ] level);

    "shares of the capacity are below it" = eachLevel "load_share" (option: level:
      unless (isNumber level && level > 0 && level < 1) (violation option "a number between 0 and 1" level null));

    "Caliper runs on a node" = if !loads.caliper.enable then [ ] else
    refers [ "loads" "caliper" "node" ] "the name of a node" (attrNames nodes) loads.caliper.node;

    "Caliper has a workload" = unless (!loads.caliper.enable || loads.caliper.workload != null)
      (violation [ "loads" "caliper" "workload" ] "a folder" loads.caliper.workload "Write loads.caliper.workload = ./workload;");

    "wrk runs on a node" = if !loads.wrk.enable then [ ] else
    refers [ "loads" "wrk" "node" ] "the name of a node" (attrNames nodes) loads.wrk.node;

    "wrk's threads share the connections evenly" =
      let
        inherit (loads.wrk) connections threads;
      in
      unless (connections / threads * threads == connections)
        (violation [ "loads" "wrk" "connections" ] "a multiple of loads.wrk.threads (${toString threads})" connections null);

    "the second side stands on nodes" = ofSecondSide (option: node:
      refers option "the name of a node" (attrNames nodes) node);

    "the second side's nodes are not the first's" = ofSecondSide (option: node:
      unless (!(elem node firstSide))
        (violation option "a node on which neither the service nor a load of the first side runs" node null));

    "what is compared is a factor" = refers [ "experiment" "compare" ] "a factor" (attrNames experiment.factors) experiment.compare;

    "the baseline is a level" = if !(experiment.factors ? ${experiment.compare}) then [ ] else
    concatMap
      ({ option, levels, ... }: unless (elem experiment.baseline levels)
        (if option == factorAt experiment.compare
        then violation [ "experiment" "baseline" ] "a level of ${experiment.compare} (${listed levels})" experiment.baseline null
        else violation option "levels with the baseline, ${show.text experiment.baseline}, among them" levels null))
      (filter (list: list.name == experiment.compare) lists);

    "factors have levels, each once" = concatMap
      ({ option, levels, ... }: unless (levels != [ ] && distinct levels)
        (violation option "at least one level, and each once" levels null))
      lists;

    "a level's attribution ends with it" = concatMap
      (name:
        let
          steps = experiment.attributions.${name};
          last = (elemAt steps (length steps - 1)).level;
        in
        if steps == [ ] then [ (violation [ "experiment" "attributions" name ] "at least one step, the last of which is ${name}" steps null) ]
        else unless ((if isString last then last else show.text last) == name)
          (violation (attributionAt name (length steps - 1)) "the level that is taken apart, ${name}" last null))
      (attrNames experiment.attributions);

    "attributions go from the baseline by levels of what is compared" = if !(experiment.factors ? ${experiment.compare}) then [ ] else
    eachStep (name: index: steps:
      let
        level = elemAt steps index;
        before = [ experiment.baseline ] ++ genList (elemAt steps) index;
        inherit (experiment.factors.${experiment.compare}) levels;
        near = if isString level then nearest (filter isString levels) level else null;
      in
      unless (elem level levels)
        (violation (attributionAt name index) "a level of ${experiment.compare} (${listed levels})" level
          (if near == null then null else "Write ${show.text near}."))
      ++ unless (!(elem level before))
        (violation (attributionAt name index) "a level other than the baseline and those before it" level null));

    "profiles size known factors" = concatMap
      (profile: concatMap
        (name: refers (profileAt profile name) "a factor" (attrNames experiment.factors) name)
        (attrNames experiment.profiles.${profile}.levels))
      (attrNames experiment.profiles);

    "runtimes that are compared are declared" = eachLevel "runtime" (option: level:
      if isString level then refers option "a runtime" (attrNames runtimes) level
      else [ (violation option "the name of a runtime" level null) ]);

    "vcpus are written orderer:peer" = eachLevel "vcpus" (option: level:
      unless (isString level && (level == "shared" || match "[1-9][0-9]*:[1-9][0-9]*" level != null))
        (violation option "shared, or whole CPUs as orderer:peer" level "Write it like \"1:2\"."));

    "CPU totals are positive" = quantity "total_cpus";
    "send rates are positive" = quantity "send_rate";

    "the study's figures are about this experiment" = if config.study == null then [ ] else
    concatLists (genList
      (index:
        let
          figure = elemAt config.study.figures index;
          at = [ "study" "figures" index ];
        in
        refers (at ++ [ "metric" ]) "a metric" (attrNames experiment.metrics) figure.metric
        ++ concatMap (name: refers (at ++ [ "levels" name ]) "a factor" (attrNames experiment.factors) name) (attrNames figure.levels))
      (length config.study.figures));
  };
}
