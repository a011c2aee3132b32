# Python environments: wheels pinned by a hashed requirements file, on Debian's python.
{ pins, run, fetch, debRoot, shell }:
let
  interpreter = debRoot "python" "";
  python = "${interpreter}/usr/bin/python3.11";
  pipWheel = "${interpreter}/usr/share/python-wheels/pip-23.0.1-py3-none-any.whl/pip";

  wheels =
    name:
    let
      lock = pins.python name;
    in
    fetch "${name}-wheels" lock.wheels { } ''
      ${python} ${pipWheel} download --disable-pip-version-check --no-cache-dir --only-binary :all: \
        --no-deps --require-hashes -r ${lock.requirements} -d $out
    '';
in
{
  inherit interpreter wheels;

  /**
    A Python with the wheels of a pinned environment.
    Result: bin/python and a command for each of `modules` (run as `python -m`).
    Type: pythonEnv :: { name, modules } -> Derivation
    Example: pythonEnv { name = "runtime"; modules = [ "pytest" ]; }
  */
  pythonEnv =
    { name, modules ? [ ] }:
    run "python-${name}" { } ''
      site=$out/lib/python3.11/site-packages
      ${python} ${pipWheel} install -q --disable-pip-version-check --no-index --no-deps --no-compile \
        --root-user-action=ignore --target $site ${wheels name}/*.whl
      rm -rf $site/bin $site/*.dist-info/direct_url.json
      # Hash-based bytecode holds no time stamp, so the result is the same on every machine.
      # Wheels may hold files in another Python's syntax: those are not compiled, which is no error.
      ${python} -m compileall -q --invalidation-mode unchecked-hash -s $out $site > /build/compile.log || tail -n 3 /build/compile.log
      mkdir -p $out/bin
      cat > $out/bin/python <<END
      #!${shell}
      export PYTHONPATH=$site\''${PYTHONPATH:+:\$PYTHONPATH} PYTHONNOUSERSITE=1 PYTHONDONTWRITEBYTECODE=1
      exec ${python} "\$@"
      END
      sed -i 's/^      //' $out/bin/python
      for module in ${toString modules}; do
        printf '#!${shell}\nexec %s/bin/python -m %s "$@"\n' $out $module > $out/bin/$module
      done
      chmod +x $out/bin/*
    '';
}
