# The two ways anything is built once there is a shell: offline in the sandbox, or, for a
# fetch, with the network and a result that is known by its hash.
{ system, kit, busybox, debTree }:
let
  ca = "${debTree "ca" [ "ca-certificates" ]}/usr/share/ca-certificates/mozilla";

  /**
    Build with a busybox script in the sandbox.
    Inputs: name; attributes (environment; `path` lists derivations whose bin/ is on PATH); script.
    Type: run :: String -> AttrSet -> String -> Derivation
    Example: run "greeting" { } "echo hello > $out"
  */
  run =
    name: attributes: script:
    derivation (
      {
        inherit name system;
        builder = "${busybox}/bin/busybox";
        args = [ "sh" "-euc" script ];
        PATH = builtins.concatStringsSep ":" (map (package: "${package}/bin") (attributes.path or [ ]));
        HOME = "/build";
        LANG = "C.UTF-8";
        TZ = "UTC";
        SOURCE_DATE_EPOCH = "1";
      }
      // builtins.removeAttrs attributes [ "path" ]
    );

  /**
    Fetch with an ordinary package client; the result must have the given hash.
    Type: fetch :: String -> String -> AttrSet -> String -> Derivation
    Example: fetch "wheels" "sha256-..." { } "pip download ..."
  */
  fetch =
    name: hash: attributes: script:
    run name
      (
        attributes
        // {
          outputHashMode = "recursive";
          outputHashAlgo = "sha256";
          outputHash = hash;
          preferLocalBuild = true;
          # What a site sets to reach its own mirrors; nothing else enters.
          impureEnvVars = [
            "http_proxy" "https_proxy" "no_proxy" "HTTP_PROXY" "HTTPS_PROXY" "NO_PROXY"
            "GOPROXY" "GOSUMDB" "PIP_INDEX_URL" "PIP_EXTRA_INDEX_URL" "NPM_CONFIG_REGISTRY" "npm_config_registry"
          ];
        }
      )
      ''
        # A site's own certificate authority comes in through extra-sandbox-paths (see ./tare).
        if [ -e /etc/ssl/certs/ca-certificates.crt ]; then cp /etc/ssl/certs/ca-certificates.crt /build/ca.crt
        else cat ${ca}/*.crt > /build/ca.crt; fi
        export SSL_CERT_FILE=/build/ca.crt PIP_CERT=/build/ca.crt NODE_EXTRA_CA_CERTS=/build/ca.crt
        ${script}
      '';
in
{
  inherit run fetch;
}
