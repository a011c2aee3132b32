# How values, option paths and errors read to a person.
let
  inherit (builtins)
    attrNames concatStringsSep isAttrs isInt isList length match replaceStrings stringLength substring toJSON typeOf;

  here = toString ../..;

  isPlain = name: match "[A-Za-z_][A-Za-z0-9_'-]*|<[a-z]+>|[*]" name != null;
  attribute = name: if isPlain name then name else toJSON name;

  clip = limit: text: if stringLength text <= limit then text else "${substring 0 limit text}...";

  kinds = {
    bool = "a boolean";
    float = "a number";
    int = "an integer";
    path = "a path";
    string = "a string";
  };

  /**
    The file of a module as a person knows it: without the store or the checkout before it.

    Type: String -> String
    Example: file "/nix/store/<hash>-source/labs/mtls/default.nix" => "labs/mtls/default.nix"
  */
  file = name:
    let
      inStore = match "/nix/store/[^/]+/(.*)" name;
      inCheckout = substring 0 (stringLength here + 1) name == "${here}/";
    in
    if inCheckout then substring (stringLength here + 1) (-1) name
    else if inStore != null then builtins.head inStore
    else name;

  /**
    An option path as it is written in a module.

    Type: [String | Int] -> String
    Example: path [ "nodes" "a b" "labels" 0 ] => "nodes.\"a b\".labels[0]"
  */
  path = parts:
    builtins.foldl'
      (text: part:
        if isInt part then "${text}[${toString part}]"
        else if text == "" then attribute part
        else "${text}.${attribute part}")
      ""
      parts;

  /**
    A value as Nix source. A package reads as its `reference` when it has one.

    Type: Any -> String
    Example: text { levels = [ "runc" 0.5 ]; } => "{ levels = [ \"runc\" 0.5 ]; }"
  */
  text = value:
    if isAttrs value then
      if value ? outPath then value.reference or "<package>"
      else if value == { } then "{ }"
      else "{ ${concatStringsSep " " (map (name: "${attribute name} = ${text value.${name}};") (attrNames value))} }"
    else if isList value then
      if value == [ ] then "[ ]" else "[ ${concatStringsSep " " (map text value)} ]"
    else if builtins.isFunction value then "<function>"
    else if builtins.isPath value then file (toString value)
    else replaceStrings [ "\\$" ] [ "$" ] (toJSON value);

  /**
    What was found where something else was expected: a short value and its kind.

    Type: Any -> String
    Example: found "64" => "\"64\" (a string)"
  */
  found = value:
    if value == null then "null"
    else if isAttrs value then
      if value ? outPath then "a package"
      else if value == { } then "an empty set"
      else clip 60 "a set with ${concatStringsSep ", " (attrNames value)}"
    else if isList value then "a list of ${toString (length value)}"
    else if builtins.isFunction value then "a function"
    else "${clip 60 (text value)} (${kinds.${typeOf value}})";

  /**
    An error in one line: file, option, what is wrong and how to mend it.

    Type: { file, path, message } -> String
    Example: error { file = "lab.nix"; path = [ "blocks" ]; message = "expected ..."; } => "lab.nix: blocks: expected ..."
  */
  error = { file, path, message }:
    concatStringsSep ": " (builtins.filter (part: part != "") [ file (pathOf path) message ]);
  pathOf = path;

  /**
    The text that stops an evaluation: every error, one a line.

    Type: [String] -> String
    Example: report [ "a" "b" ] => "2 mistakes:\n  a\n  b"
  */
  report = errors:
    let count = length errors; in
    if count == 1 then builtins.head errors
    else concatStringsSep "\n  " ([ "${toString count} mistakes:" ] ++ errors);
in
{ inherit error file found path report text; }
