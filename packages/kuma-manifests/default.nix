# Kuma's control plane as manifests: bin/control-plane prints them, with a certificate that it makes anew each time,
# so that no key is in the store.
{ run, kuma, shell }:
run "kuma-manifests-2.9.2"
  {
    values = builtins.concatStringsSep "," [
      "controlPlane.resources.requests.cpu=50m"
      "controlPlane.resources.requests.memory=128Mi"
      # Labs make their own meshes.
      "controlPlane.defaults.skipMeshCreation=true"
    ];
    environment = builtins.concatStringsSep "," [
      "KUMA_REPORTS_ENABLED=false"
      # Names are the cluster's: neither a DNS server in each sidecar nor names of Kuma's own.
      "KUMA_DNS_SERVER_SERVICE_VIP_ENABLED=false"
      "KUMA_RUNTIME_KUBERNETES_INJECTOR_BUILTIN_DNS_ENABLED=false"
      # Looked at every five seconds by default, which is what deploying an arm would wait for.
      "KUMA_RUNTIME_KUBERNETES_INJECTOR_SIDECAR_CONTAINER_READINESS_PROBE_PERIOD_SECONDS=1"
      # One CPU by default, half of what Istio's sidecar may use: no limit may be what is measured.
      "KUMA_RUNTIME_KUBERNETES_INJECTOR_SIDECAR_CONTAINER_RESOURCES_LIMITS_CPU=2"
      "KUMA_RUNTIME_KUBERNETES_INJECTOR_SIDECAR_CONTAINER_RESOURCES_LIMITS_MEMORY=1Gi"
    ];
  }
  ''
    mkdir -p $out/bin
    cat > $out/bin/control-plane <<END
    #!${shell}
    exec ${kuma}/bin/kumactl --no-config install control-plane --without-kubernetes-connection --registry tare.local \
      --env-var '$environment' --set '$values'
    END
    sed -i 's/^    //' $out/bin/control-plane
    chmod +x $out/bin/control-plane
    $out/bin/control-plane > /build/control-plane.yaml
    grep -q 'image: "\?tare.local/kuma-cp:2.9.2' /build/control-plane.yaml
  ''
