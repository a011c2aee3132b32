// oci writes an image as an OCI layout archive, from files, reproducibly.
//
//	oci OUT DESCRIPTION.json
//
// DESCRIPTION is {"name": reference, "layers": [{path in the image: path here}, ...], "config": {...}},
// the lowest layer first. Images that begin with the same layers share them on a node.
// OUT becomes a folder with image.tar and image.json ({"name", "digest"}): the digest is known
// when the image is built, so a run can state exactly what it measured.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

type description struct {
	Name   string              `json:"name"`
	Layers []map[string]string `json:"layers"`
	Config map[string]any      `json:"config"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: oci OUT DESCRIPTION.json")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "oci:", err)
		os.Exit(1)
	}
}

func run(out, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var image description
	if err := json.Unmarshal(content, &image); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	layers := make([][]byte, len(image.Layers))
	for i, files := range image.Layers {
		if layers[i], err = buildLayer(files); err != nil {
			return err
		}
	}
	digest, err := writeLayout(filepath.Join(out, "image.tar"), image, layers)
	if err != nil {
		return err
	}
	identity, err := json.Marshal(map[string]string{"name": image.Name, "digest": digest})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "image.json"), append(identity, '\n'), 0o644)
}
