# The house's rules for Nix files that a text can be held to; a formatter is not to be had on every machine.
let
  inherit (builtins) attrNames concatMap filter genList isString elemAt length match readDir readFile split;

  root = ../..;
  # Folders with Nix files, from the root of the project.
  folders = [ "labs" "lib" "modules" "packages" "tests" ];

  walk = folder:
    let entries = readDir (root + "/${folder}"); in
    concatMap
      (name:
        let path = "${folder}/${name}"; in
        if entries.${name} == "directory" then walk path
        else if match ".*[.]nix" name != null then [ path ]
        else [ ])
      (attrNames entries);

  # A comment may say anything.
  rules = {
    "no `with`: say where a name comes from" = line: match "([^#]*[^#a-zA-Z0-9_'-])?with [a-zA-Z_.'-]+;.*" line == null;
    "no `rec`: let serves" = line: match "([^#]*[^#a-zA-Z0-9_'-])?rec [{].*" line == null;
    "no white space at the end of a line" = line: match ".*[ \t]" line == null;
    "no tabs" = line: match ".*\t.*" line == null;
  };

  check = path:
    let lines = filter isString (split "\n" (readFile (root + "/${path}"))); in
    (if match "([a-z0-9.-]+/)*[a-z0-9-]+[.]nix" path != null then [ ] else [ "${path}: file names are lower-kebab" ])
    ++ concatMap
      (rule: concatMap
        (index: if rules.${rule} (elemAt lines index) then [ ] else [ "${path}:${toString (index + 1)}: ${rule}" ])
        (genList (index: index) (length lines)))
      (attrNames rules);
in
concatMap check (concatMap walk folders)
