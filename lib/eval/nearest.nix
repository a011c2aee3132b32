# Which known name somebody probably meant.
let
  inherit (builtins) elemAt filter foldl' genList head length replaceStrings sort stringLength substring;

  letters = text: genList (index: substring index 1 text) (stringLength text);
  capitals = letters "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  smalls = letters "abcdefghijklmnopqrstuvwxyz";
  # send_rate, sendRate and send-rate are the same slip of the pen.
  plain = replaceStrings (capitals ++ [ "_" "-" ]) (smalls ++ [ "" "" ]);

  min = a: b: if a < b then a else b;

  # Levenshtein's distance, row by row.
  distance = a: b:
    let
      columns = letters b;
      nextRow = row: letter:
        foldl'
          (done: column:
            let
              left = elemAt done column;
              above = elemAt row (column + 1);
              diagonal = elemAt row column;
              change = if elemAt columns column == letter then 0 else 1;
            in
            done ++ [ (min (min (left + 1) (above + 1)) (diagonal + change)) ])
          [ (head row + 1) ]
          (genList (index: index) (length columns));
      last = foldl' nextRow (genList (index: index) (length columns + 1)) (letters a);
    in
    elemAt last (length columns);
in
/**
  The candidate nearest to a name, or null when none is near.

  Type: [String] -> String -> String | null
  Example: nearest [ "workers" "node" ] "worker" => "workers"
*/
candidates: name:
let
  measured = map (candidate: { inherit candidate; far = distance (plain name) (plain candidate); }) candidates;
  near = filter (entry: entry.far <= 1 + stringLength name / 4) measured;
in
if near == [ ] then null else (head (sort (a: b: a.far < b.far) near)).candidate
