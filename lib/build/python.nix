# Python environments: wheels pinned by a hashed requirements file, on Debian's python.
{ pins, run, fetch, kit, debRoot, patchelfCommand, shell }:
let
  # Compiled now, because programs run as root, who could write bytecode into the store. Hash-based
  # bytecode holds no time stamp, so the result is the same on every machine.
  compile = python: folder: "${python} -m compileall -q --invalidation-mode unchecked-hash -s $out ${folder}";

  # lib2to3's tests and the like hold files in an older syntax: not compiled, which is no error.
  interpreter = debRoot "python" ''
    ${compile "$out/usr/bin/python3.11" "$out/usr/lib/python3.11"} > /build/compile.log || tail -n 3 /build/compile.log
  '';
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
      rm -f $site/*.dist-info/direct_url.json
      # Wheels may hold files in another Python's syntax too.
      ${compile python "$site"} > /build/compile.log || tail -n 3 /build/compile.log
      # A virtual environment: the interpreter finds its wheels by where it is called from, so a program
      # that starts sys.executable gets the same environment.
      mkdir -p $out/bin
      printf 'home = %s\ninclude-system-site-packages = false\nversion = 3.11\n' ${interpreter}/usr/bin > $out/pyvenv.cfg
      ln -s ${python} $out/bin/python
      # Programs in wheels: native ones are pointed at this libc, the others are scripts around a module.
      ${kit} elfs $site/bin > /build/programs
      while read kind program; do
        chmod u+w $program
        ${patchelfCommand} --set-interpreter ${interpreter}/lib64/ld-linux-x86-64.so.2 \
          --force-rpath --set-rpath ${interpreter}/usr/lib/x86_64-linux-gnu $program
        mv $program $out/bin/
      done < /build/programs
      rm -rf $site/bin
      for module in ${toString modules}; do
        printf '#!${shell}\nexec %s/bin/python -m %s "$@"\n' $out $module > $out/bin/$module
      done
      for command in ${toString modules}; do chmod +x $out/bin/$command; done
    '';
}
