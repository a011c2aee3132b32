# The study's printed figures, as ratios of Kata to runC.
let
  inherit (builtins) attrNames concatMap elemAt fromJSON fromTOML match readFile toJSON;

  paper = fromTOML (readFile ./paper.toml);

  figure = metric: total_cpus: vcpus: ratio: quote: {
    inherit metric quote ratio;
    levels = { runtime = "kata"; send_rate = paper.setup.reported_rate_tps; inherit total_cpus vcpus; };
  };

  # Section 4 gives changes against runC with the same shares: -0.38 is a ratio of 0.62.
  changes = { throughput_change = "goodput"; latency_change = "latency_mean"; cpu_extra = "cpu_total"; };
  equalShares = concatMap
    (key:
      let parts = match "(.*)_([0-9]+)cpu" key; in
      [
        (figure changes.${elemAt parts 0} (fromJSON (elemAt parts 1)) "shared" (1 + paper.equal_shares.${key})
          "equal_shares.${key} = ${toJSON paper.equal_shares.${key}}")
      ])
    (attrNames paper.equal_shares);

  # Section 5 gives distances from runC's best: less throughput, more latency.
  perNodeVcpus = concatMap
    (key:
      let
        parts = match "([0-9]+)cpu_([0-9]+)_([0-9]+)" key;
        at = fromJSON (elemAt parts 0);
        vcpus = "${elemAt parts 1}:${elemAt parts 2}";
        inherit (paper.per_node_vcpus.${key}) throughput latency;
        quote = what: value: "per_node_vcpus.${key}: ${what} ${toJSON value} from runC's best";
      in
      [
        (figure "goodput" at vcpus (1 - throughput) (quote "throughput" throughput))
        (figure "latency_mean" at vcpus (1 + latency) (quote "latency" latency))
      ])
    (attrNames paper.per_node_vcpus);
in
{
  study = {
    inherit (paper) title authors;
    figures = equalShares ++ perNodeVcpus;
  };
}
