# Istio's control plane as manifests, made once when the lab is built, and what injects its sidecar into pods.
#
#   control-plane.yaml  for `kubectl apply`: istioctl's profile "minimal", with CRDs
#   bin/inject FILE     prints the manifests in FILE with sidecars, as the webhook would have made them
#
# Injection at build time leaves no webhook whose certificate has to be waited for.
{ run, istio, kubernetes, shell }:
run "istio-manifests-1.25.1"
  {
    operator = builtins.toJSON {
      apiVersion = "install.istio.io/v1alpha1";
      kind = "IstioOperator";
      spec = {
        profile = "minimal";
        hub = "tare.local";
        tag = "1.25.1";
        meshConfig = {
          accessLogFile = "";
          enablePrometheusMerge = false;
          defaultConfig.concurrency = 2;
        };
        values = {
          telemetry.enabled = false;
          global = {
            configValidation = false;
            defaultPodDisruptionBudget.enabled = false;
            imagePullPolicy = "IfNotPresent";
            operatorManageWebhooks = true;
          };
          pilot = {
            autoscaleEnabled = false;
            # The default asks for 2 GiB, which a lab's node need not have.
            resources.requests = { cpu = "50m"; memory = "128Mi"; };
            # Filters that only Istio's own build of Envoy has. PILOT_ENDPOINT_TELEMETRY_LABEL stays on:
            # without it endpoints lose their TLS mode, and strict mode answers 503.
            env = {
              PILOT_DISABLE_MX_ALPN = "true";
              PILOT_ENABLE_ALPN_FILTER = "false";
              PILOT_ENABLE_METADATA_EXCHANGE = "false";
            };
          };
        };
      };
    };
    passAsFile = [ "operator" ];
  }
  ''
    mkdir -p $out/bin $out/inject
    cp $operatorPath /build/operator.json
    ${istio}/bin/istioctl manifest generate -f /build/operator.json > $out/control-plane.yaml
    # What injection reads are texts inside of ConfigMaps.
    for key in config mesh values; do
      ${kubernetes}/bin/kubectl label --local -f $out/control-plane.yaml tare.local/mesh=istio \
        -o jsonpath="{.data.$key}" > $out/inject/$key
      [ -s $out/inject/$key ]
    done
    printf '#!${shell}\nexec ${istio}/bin/istioctl kube-inject --injectConfigFile %s/inject/config --meshConfigFile %s/inject/mesh --valuesFile %s/inject/values -f "$1"\n' \
      $out $out $out > $out/bin/inject
    chmod +x $out/bin/inject
  ''
