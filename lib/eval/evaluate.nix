# From modules to one configuration. A module is a path, a function or a set:
#   imports     more modules
#   options     what may be set: a tree of `mkOption`
#   config      what is set; a set with none of the other keys is all config
#   assertions  rules across options: name -> [ { option = path; message; } ], empty when the rule holds
#   _file       the name errors give it, when it is not a file
{ nearest, properties, show }:
let
  inherit (builtins)
    any attrNames attrValues concatMap concatStringsSep deepSeq elem elemAt filter foldl' functionArgs head intersectAttrs
    isAttrs isFunction isList isPath isString length mapAttrs pathExists removeAttrs substring tail tryEval unsafeGetAttrPos
    zipAttrsWith;

  isOption = value: isAttrs value && (value._type or null) == "option";

  # What cannot be computed because something else is wrong is not a mistake of its own.
  guarded = list: let attempt = tryEval (deepSeq list list); in if attempt.success then attempt.value else [ ];

  listed = concatStringsSep ", ";

  ## Modules

  fileOf = path:
    let name = toString path; in
    show.file (if pathExists (path + "/default.nix") then "${name}/default.nix" else name);

  positionOf = fallback: module:
    let
      names = attrNames module;
      position = if names == [ ] then null else unsafeGetAttrPos (head names) module;
    in
    if position == null || substring 0 1 position.file != "/" then fallback else show.file position.file;

  keys = [ "_file" "assertions" "config" "imports" "options" ];

  load = arguments: fallback: given:
    let
      isFile = isPath given || (isString given && substring 0 1 given == "/");
      place = if isFile then fileOf given else fallback;
      read = if isFile then import given else given;
      wanted = if isFunction read then functionArgs read else { };
      unknown = filter (name: !wanted.${name} && !(arguments ? ${name})) (attrNames wanted);
      result =
        if !(isFunction read) then read
        else if unknown != [ ] then { }
        else read (if wanted == { } then arguments else intersectAttrs wanted arguments);
      module = if isAttrs result then result else { };
      file = module._file or (if isFile then place else positionOf fallback module);
      isWhole = module ? config || module ? options || module ? assertions;
      extra = if isWhole then filter (key: !(elem key keys)) (attrNames module) else [ ];
      mistake = isMade: expected: found:
        if isMade then [{ inherit file; path = [ ]; message = "expected ${expected}, found ${found}"; }] else [ ];
    in
    {
      inherit file;
      key = if isFile then toString given else null;
      imports = module.imports or [ ];
      options = module.options or { };
      assertions = module.assertions or { };
      config = if isWhole then module.config or { } else removeAttrs module [ "_file" "imports" ];
      errors =
        mistake (unknown != [ ]) "a module that asks for ${listed (attrNames arguments)}" "one that asks for ${listed unknown}. Remove it."
        ++ mistake (!(isAttrs result)) "a module (a path, a function or a set)" "${show.found result}."
        ++ mistake (extra != [ ]) "only ${listed keys} in a module that has one of them" "${listed extra} too. Move it under config.";
    };

  # Every module once, what is imported before what imports it.
  collect = arguments: given:
    let
      add = fallback: found: module:
        let
          loaded = load arguments fallback module;
          marked = found // { seen = found.seen // (if loaded.key == null then { } else { ${loaded.key} = true; }); };
          imported = foldl' (add loaded.file) marked loaded.imports;
        in
        if loaded.key != null && found.seen ? ${loaded.key} then found
        else imported // { modules = imported.modules ++ [ loaded ]; };
    in
    (foldl' (add "<module>") { seen = { }; modules = [ ]; } given).modules;

  ## Options

  leaf = blame: path: declarations: definitions:
    let
      declaration = head (filter (declaration: isOption declaration.options) declarations);
      option = declaration.options;
      again = map
        (other: { inherit (other) file; inherit path; message = "expected one declaration, found another in ${declaration.file}. Remove one."; })
        (filter (other: other != declaration) declarations);
      given = properties.strongest (concatMap properties.resolve definitions);
      used =
        if given != [ ] then given
        else if option ? default then [{ inherit (declaration) file; value = option.default; }]
        else [ ];
      missing = {
        file = blame;
        inherit path;
        message = "expected ${option.type.description}, found nothing. Write ${show.path path} = ${show.text option.example};";
      };
      badExample = option.type.verify option.example;
      merged =
        if used == [ ] then { errors = [ missing ]; value = throw (show.error missing); }
        else option.type.merge { inherit path; definitions = used; };
    in
    {
      isLeaf = true;
      inherit (merged) value;
      errors = guarded again ++ guarded merged.errors;
      definitions = used;
      documentation = [{
        path = show.path path;
        type = option.type.description;
        default = option.defaultText or (if option ? default then show.text option.default else null);
        inherit (option) description;
        example =
          if badExample == null then show.text option.example
          else throw (show.error { inherit (declaration) file; path = path ++ [ "example" ]; message = badExample; });
        declared_in = declaration.file;
      }] ++ option.type.documentation path;
    };

  branch = blame: path: declarations: definitions:
    let
      push = { file, value }: map (value: { inherit file value; }) (properties.pushDown value);
      pushed = concatMap push definitions;
      isSet = definition: isAttrs definition.value;
      sets = filter isSet pushed;
      children = mapAttrs grow (zipAttrsWith (_: all: all) (map
        (declaration: mapAttrs (_: options: { inherit (declaration) file; inherit options; }) declaration.options)
        declarations));
      defined = zipAttrsWith (_: all: all) (map
        (definition: mapAttrs (_: value: { inherit (definition) file; inherit value; }) definition.value)
        sets);
      grow = name: declared:
        let
          below = path ++ [ name ];
          found = defined.${name} or [ ];
        in
        if any (declaration: isOption declaration.options) declared
        then leaf blame below declared found
        else branch blame below declared found;
      unknown = name:
        let
          near = nearest (attrNames children) name;
          mend =
            if near != null then "Write ${show.path (path ++ [ near ])}."
            else "Known here: ${listed (attrNames children)}.";
        in
        map
          (definition: {
            inherit (definition) file;
            path = path ++ [ name ];
            message = "expected a known option, found none of this name. ${mend}";
          })
          defined.${name};
      misplaced = definition: {
        inherit (definition) file;
        inherit path;
        message = "expected a set of options, found ${show.found definition.value}.";
      };
    in
    {
      isLeaf = false;
      inherit children;
      errors = guarded (map misplaced (filter (definition: !(isSet definition)) pushed)
        ++ concatMap unknown (attrNames (removeAttrs defined (attrNames children))));
    };

  valuesOf = node: if node.isLeaf then node.value else mapAttrs (_: valuesOf) node.children;
  errorsOf = node: node.errors ++ (if node.isLeaf then [ ] else concatMap errorsOf (attrValues node.children));
  documentationOf = node: if node.isLeaf then node.documentation else concatMap documentationOf (attrValues node.children);

  # The definitions that the part of a value comes from which a path leads to.
  origins = definitions: path:
    let
      key = head path;
      within = { file, value, ... }:
        let resolve = part: properties.resolve { inherit file; value = part; }; in
        if builtins.isInt key then (if isList value then concatMap resolve value else [ ])
        else if isAttrs value && value ? ${key} then resolve value.${key}
        else [ ];
      parts = concatMap within definitions;
      deeper =
        if !(builtins.isInt key) then properties.strongest parts
        else if key < length parts then [ (elemAt parts key) ]
        else [ ];
    in
    if path == [ ] || deeper == [ ] then definitions else origins deeper (tail path);

  # The files that set an option, or the part of it that a path leads to.
  filesOf = node: path:
    if node.isLeaf then attrNames (builtins.groupBy (definition: definition.file) (origins node.definitions path))
    else if path != [ ] && node.children ? ${head path} then filesOf node.children.${head path} (tail path)
    else [ ];
in
/**
  Evaluate modules together. `errors` is data: nothing is thrown until a wrong value is read.

  Inputs: modules; arguments, what modules written as functions receive beside `config`; path, of a submodule.
  Type: { modules, arguments ? { }, path ? [ ] } -> { config, errors : [{ file, path, message }], documentation }
  Example: (evaluate { modules = [ { options.n = mkOption { ... }; } { n = 1; } ]; }).config.n => 1
*/
{ modules, arguments ? { }, path ? [ ] }:
let
  loaded = collect (arguments // { inherit config; }) modules;
  blame = if loaded == [ ] then "<module>" else (elemAt loaded (length loaded - 1)).file;
  tree = branch blame path
    (map (module: { inherit (module) file options; }) loaded)
    (map (module: { inherit (module) file; value = module.config; }) loaded);
  config = valuesOf tree;
  violated = { option, message }: {
    file = listed (filesOf tree option);
    path = path ++ option;
    inherit message;
  };
  violations = concatMap (module: concatMap (rule: guarded (map violated rule)) (attrValues module.assertions)) loaded;
in
{
  inherit config;
  errors = concatMap (module: module.errors) loaded ++ errorsOf tree ++ violations;
  documentation = documentationOf tree;
}
