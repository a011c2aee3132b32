# The study's printed figures, as ratios of each mesh to no mesh. It had one arm for each mesh, with mutual TLS: wrk's
# requests, which a mesh's defaults make HTTP, and netperf's single bytes, which are forwarded as bytes.
let
  inherit (builtins) concatMap filter fromTOML head readFile;

  paper = fromTOML (readFile ./paper.toml);
  baseline = head (filter (result: result.mesh == "none") paper.result);

  figures = result:
    let
      figure = metric: layer: key: {
        inherit metric;
        levels.arm = "${result.mesh}-${layer}-mtls";
        ratio = result.${key} * 1.0 / baseline.${key};
        quote = "${result.mesh}: ${key} ${toString result.${key}}, ${toString baseline.${key}} without a mesh";
      };
    in
    [ (figure "throughput" "l7" "throughput_rps") (figure "round_trip_mean" "l4" "latency_us") ];
in
{
  study = {
    inherit (paper) title authors;
    figures = concatMap figures (filter (result: result.mesh != "none") paper.result);
  };
}
