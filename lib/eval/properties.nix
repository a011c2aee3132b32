# What a module may wrap around a value: a condition, a priority, several values.
# The lower priority number wins; an option's own default yields to every definition.
let
  inherit (builtins) concatMap filter foldl' isAttrs mapAttrs;

  ordinary = 100;
  kind = value: if isAttrs value then value._type or null else null;

  mkOverride = priority: content: { _type = "override"; inherit priority content; };
  mkIf = condition: content: { _type = "if"; inherit condition content; };
in
{
  /**
    A value that counts only while the condition holds. The condition may read `config`.

    Type: Bool -> a -> Property
    Example: experiment.service = mkIf config.services.fabric.enable "fabric";
  */
  inherit mkIf;

  /**
    Several definitions of one option in one module.

    Type: [a] -> Property
    Example: nodes = mkMerge [ { client = { }; } (mkIf large { second = { }; }) ];
  */
  mkMerge = contents: { _type = "merge"; inherit contents; };

  /**
    A value that any ordinary definition replaces.

    Type: a -> Property
    Example: services.fabric.node = mkDefault "fabric";
  */
  mkDefault = mkOverride 1000;

  /**
    A value that replaces every ordinary definition.

    Type: a -> Property
    Example: experiment.blocks = mkForce 20;
  */
  mkForce = mkOverride 50;

  /**
    The plain values of a definition, each with its priority; conditions are decided here.

    Type: { file, value } -> [{ file, priority, value }]
    Example: resolve { file = "a.nix"; value = mkDefault 1; } => [ { file = "a.nix"; priority = 1000; value = 1; } ]
  */
  resolve = { file, value }:
    let
      unwrap = priority: value:
        if kind value == "override" then unwrap value.priority value.content
        else if kind value == "if" then (if value.condition then unwrap priority value.content else [ ])
        else if kind value == "merge" then concatMap (unwrap priority) value.contents
        else [{ inherit file priority value; }];
    in
    unwrap ordinary value;

  /**
    The definitions of the strongest priority.

    Type: [{ priority, ... }] -> [{ priority, ... }]
    Example: strongest [ { priority = 100; } { priority = 50; } ] => [ { priority = 50; } ]
  */
  strongest = definitions:
    let best = foldl' (best: definition: if definition.priority < best then definition.priority else best) 10000 definitions;
    in filter (definition: definition.priority == best) definitions;

  /**
    The sets in a definition, with what is wrapped around them moved onto their attributes, so that the
    names of a set are known before its condition is decided.

    Type: Any -> [Any]
    Example: pushDown (mkIf c { a = 1; }) => [ { a = mkIf c 1; } ]
  */
  pushDown =
    let
      push = value:
        if kind value == "merge" then concatMap push value.contents
        else if kind value == "if" then onto (mkIf value.condition) value.content
        else if kind value == "override" then onto (mkOverride value.priority) value.content
        else [ value ];
      onto = wrap: content: map (set: if isAttrs set then mapAttrs (_: wrap) set else set) (push content);
    in
    push;
}
