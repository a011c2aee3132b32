# The study's printed figures, as ratios of each mesh to no mesh. It had one arm for each mesh, with mutual TLS, which
# a mesh's defaults make one of HTTP.
let
  inherit (builtins) concatMap filter fromTOML head readFile;

  paper = fromTOML (readFile ./paper.toml);
  baseline = head (filter (result: result.mesh == "none") paper.result);

  figures = result:
    let
      levels.arm = "${result.mesh}-l7-mtls";
      figure = metric: key: {
        inherit metric levels;
        ratio = result.${key} * 1.0 / baseline.${key};
        quote = "${result.mesh}: ${key} ${toString result.${key}}, ${toString baseline.${key}} without a mesh";
      };
    in
    [ (figure "goodput" "throughput_rps") (figure "latency_p50" "latency_us") ];
in
{
  study = {
    inherit (paper) title authors;
    figures = concatMap figures (filter (result: result.mesh != "none") paper.result);
  };
}
