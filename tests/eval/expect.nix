# A test is a name, what was found and what was expected; a failure is a line of text.
let
  inherit (import ../../lib/eval) show;
in
{
  # String -> a -> a -> [String]
  equal = name: found: expected:
    if found == expected then [ ] else [ "${name}: expected ${show.text expected}, found ${show.text found}" ];

  # Evaluation stops, whatever it says. String -> a -> [String]
  stops = name: value:
    if (builtins.tryEval (builtins.deepSeq value value)).success then [ "${name}: expected an error, found none" ] else [ ];
}
