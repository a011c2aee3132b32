# The types an option may have. A type is a set of
#   description    what is expected, as it follows "expected"
#   verify         value -> null, or what is wrong with it
#   merge          { path, definitions = [{ file, value }] } -> { value, errors = [{ file, path, message }] }
#   documentation  path -> the options inside, for the reference
# A merged value may always be read: where it is wrong, it throws what `errors` says.
{ evaluate, ipv4, nearest, properties, show }:
let
  inherit (builtins)
    all any attrNames concatLists concatMap concatStringsSep elem filter fromJSON genList head isAttrs isBool isFloat
    isInt isList isString length mapAttrs match partition substring tail zipAttrsWith;

  mismatch = description: mend: value:
    "expected ${description}, found ${show.found value}.${if mend == null then "" else " ${mend}"}";

  conflict = path: one: other: {
    inherit (one) file;
    inherit path;
    message = "expected one value, found ${show.found one.value} here and ${show.found other.value} in ${other.file}. "
      + "Keep one, or wrap the one that shall win in mkForce.";
  };

  stop = errors: throw (show.report (map show.error errors));

  # A type whose values are whole: two definitions of one option must agree.
  scalar = { description, check, mend ? (_: null) }:
    let
      verify = value: if check value then null else mismatch description (mend value) value;
    in
    {
      inherit check description mend verify;
      documentation = _: [ ];
      merge = { path, definitions }:
        let
          first = head definitions;
          wrong = filter (definition: !(check definition.value)) definitions;
          others = filter (definition: definition.value != first.value) (tail definitions);
          errors =
            if wrong != [ ] then
              map ({ file, value, ... }: { inherit file path; message = verify value; }) wrong
            else if others != [ ] then [ (conflict path (head others) first) ]
            else [ ];
        in
        { inherit errors; value = if errors == [ ] then first.value else stop errors; };
    };

  # A type whose values have parts, each with its own errors.
  composite = { description, merge, documentation ? (_: [ ]) }: {
    inherit description documentation merge;
    verify = value:
      let inherit (merge { path = [ ]; definitions = [{ file = ""; inherit value; }]; }) errors;
      in if errors == [ ] then null else show.error (head errors);
  };

  # Definitions that do not have the shape of a composite, as errors.
  misshapen = description: mend: path: definitions:
    map
      ({ file, value, ... }: { inherit file path; message = mismatch description (mend value) value; })
      definitions;

  write = value: "Write ${show.text value}.";
  isNumber = value: isInt value || isFloat value;

  # "64" where 64 was meant, when 64 would do.
  unquote = check: value:
    if isString value && match "-?(0|[1-9][0-9]{0,15})([.][0-9]+)?" value != null && check (fromJSON value)
    then write (fromJSON value) else null;
  quote = check: value:
    if isNumber value && check (show.text value) then write (show.text value) else null;

  wholeNumber = { description, check ? (_: true) }:
    let holds = value: isInt value && check value; in
    scalar { inherit description; check = holds; mend = unquote holds; };
  anyNumber = { description, check ? (_: true) }:
    let holds = value: isNumber value && check value; in
    scalar { inherit description; check = holds; mend = unquote holds; };

  strMatching = { pattern, description, sample }:
    let holds = value: isString value && match pattern value != null; in
    scalar {
      inherit description;
      check = holds;
      mend = value: if quote holds value != null then quote holds value else "Write it like ${show.text sample}.";
    };

  isAbsolute = value: builtins.isPath value || (isString value && substring 0 1 value == "/");

  listOf = item:
    let description = "a list (each item ${item.description})"; in
    composite {
      inherit description;
      documentation = path: item.documentation (path ++ [ "*" ]);
      merge = { path, definitions }:
        let
          shapes = partition (definition: isList definition.value) definitions;
          mend = value: if item.verify value == null then write [ value ] else null;
          wrong = misshapen description mend path shapes.wrong;
          entries = concatMap
            ({ file, value, ... }: concatMap (value: properties.resolve { inherit file value; }) value)
            shapes.right;
          merged = genList
            (index: item.merge { path = path ++ [ index ]; definitions = [ (builtins.elemAt entries index) ]; })
            (length entries);
        in
        {
          errors = wrong ++ concatMap (entry: entry.errors) merged;
          value = if wrong == [ ] then map (entry: entry.value) merged else stop wrong;
        };
    };

  attrsOf = item:
    let description = "a set (each value ${item.description})"; in
    composite {
      inherit description;
      documentation = path: item.documentation (path ++ [ "<name>" ]);
      merge = { path, definitions }:
        let
          isSet = definition: isAttrs definition.value && !(definition.value ? outPath);
          shapes = partition isSet definitions;
          wrong = misshapen description (_: null) path shapes.wrong;
          entries = zipAttrsWith (_: concatLists) (map
            ({ file, value, ... }: mapAttrs (_: value: properties.resolve { inherit file value; }) value)
            shapes.right);
          names = filter (name: entries.${name} != [ ]) (attrNames entries);
          merged = builtins.listToAttrs (map
            (name: {
              inherit name;
              value = item.merge { path = path ++ [ name ]; definitions = properties.strongest entries.${name}; };
            })
            names);
        in
        {
          errors = wrong ++ concatMap (name: merged.${name}.errors) names;
          value = if wrong == [ ] then mapAttrs (_: entry: entry.value) merged else stop wrong;
        };
    };
in
{
  /**
    Lists; definitions in several modules are put together, what is imported first.

    Type: Type -> Type
    Example: listOf str
  */
  inherit listOf;

  /**
    Sets with names of one's own choice; definitions in several modules are merged name by name.

    Type: Type -> Type
    Example: attrsOf positiveInt
  */
  inherit attrsOf;

  /**
    Strings that match a regular expression as a whole; the sample shows how one is written.

    Type: { pattern, description, sample : String } -> Type
    Example: strMatching { pattern = "[0-9]+[.][0-9]+"; description = "a version"; sample = "1.29"; }
  */
  inherit strMatching;

  str = scalar { description = "a string"; check = isString; mend = quote isString; };

  bool = scalar {
    description = "true or false";
    check = isBool;
    mend = value:
      if elem value [ "true" "yes" ] then write true
      else if elem value [ "false" "no" ] then write false
      else null;
  };

  int = wholeNumber { description = "an integer"; };
  positiveInt = wholeNumber { description = "a positive integer"; check = value: value > 0; };

  /**
    Integers of a range, both ends in it.

    Type: Int -> Int -> Type
    Example: intBetween 1 8
  */
  intBetween = low: high: wholeNumber {
    description = "an integer from ${toString low} to ${toString high}";
    check = value: low <= value && value <= high;
  };

  number = anyNumber { description = "a number"; };
  positiveNumber = anyNumber { description = "a positive number"; check = value: value > 0; };
  nonNegativeNumber = anyNumber { description = "a number of at least 0"; check = value: value >= 0; };

  /**
    One of a few values.

    Type: [String | Number] -> Type
    Example: enum [ "embedded" "existing" ]
  */
  enum = values:
    scalar {
      description = "one of ${concatStringsSep ", " (map show.text values)}";
      check = value: elem value values;
      mend = value:
        let near = if isString value then nearest (filter isString values) value else null;
        in if near == null then null else write near;
    };

  package = scalar {
    description = "a package";
    check = value: isAttrs value && value ? outPath;
    mend = value: if isString value then "Write packages.NAME." else null;
  };

  path = scalar {
    description = "a path";
    check = isAbsolute;
    mend = value: if isString value && value != "" then "Write ./${value}, without quotes." else null;
  };

  ipv4Address = scalar {
    description = "an IPv4 address";
    check = value: isString value && ipv4.address value != null;
    mend = _: "Write it like \"198.19.64.10\".";
  };

  ipv4Network = scalar {
    description = "an IPv4 network";
    check = value: isString value && ipv4.network value != null;
    mend = _: "Write it like \"198.18.0.0/16\", with the bits of the host zero.";
  };

  /**
    Values of any of several types without parts.

    Type: [Type] -> Type
    Example: oneOf [ str number ]
  */
  oneOf = members:
    scalar {
      description = concatStringsSep " or " (map (member: member.description) members);
      check = value: any (member: member.check value) members;
    };

  /**
    Values of a type, or null.

    Type: Type -> Type
    Example: nullOr positiveInt
  */
  nullOr = inner:
    if inner ? check then
      scalar {
        description = "${inner.description} or null";
        check = value: value == null || inner.check value;
        inherit (inner) mend;
      }
    else
      composite {
        description = "${inner.description} or null";
        inherit (inner) documentation;
        merge = { path, definitions }@given:
          let
            parts = partition (definition: definition.value == null) definitions;
            errors = [ (conflict path (head parts.right) (head parts.wrong)) ];
          in
          if parts.right == [ ] then inner.merge given
          else if parts.wrong == [ ] then { errors = [ ]; value = null; }
          else { inherit errors; value = stop errors; };
      };

  /**
    Sets with options of their own. The module receives `name`, the last part of its path.

    Type: Module -> Type
    Example: attrsOf (submodule { options.cpus = mkOption { ... }; })
  */
  submodule = module:
    let
      description = "a set of options";
      within = path: definitions: evaluate {
        modules = [ module ] ++ map (definition: { _file = definition.file; config = definition.value; }) definitions;
        inherit path;
        arguments.name = if path == [ ] then "" else builtins.elemAt path (length path - 1);
      };
    in
    composite {
      inherit description;
      documentation = path: (within path [ ]).documentation;
      merge = { path, definitions }:
        let
          inherit (within path definitions) config errors;
          sets = all (definition: isAttrs definition.value) definitions;
          wrong = misshapen description (_: null) path (filter (definition: !(isAttrs definition.value)) definitions);
        in
        if sets then { inherit errors; value = config; } else { errors = wrong; value = stop wrong; };
    };
}
