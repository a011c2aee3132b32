package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func build(t *testing.T) (archive []byte, digest string) {
	t.Helper()
	work := t.TempDir()
	program := filepath.Join(work, "program")
	if err := os.WriteFile(program, []byte("#!"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(map[string]any{
		"name":   "tare.local/example:1",
		"layers": []map[string]string{{"/lib/part": program}, {"/bin/program": program}},
		"config": map[string]any{"Entrypoint": []string{"/bin/program"}},
	})
	file, out := filepath.Join(work, "description.json"), filepath.Join(work, "out")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(out, file); err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(filepath.Join(out, "image.tar"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(out, "image.json"))
	if err != nil {
		t.Fatal(err)
	}
	var identity struct{ Name, Digest string }
	if err := json.Unmarshal(content, &identity); err != nil || identity.Name != "tare.local/example:1" {
		t.Fatalf("image.json: %s (%v)", content, err)
	}
	return archive, identity.Digest
}

func TestSameInputGivesTheSameBytes(t *testing.T) {
	first, _ := build(t)
	second, _ := build(t)
	if !bytes.Equal(first, second) {
		t.Error("two archives of the same files differ")
	}
}

func TestIndexNamesTheManifestByItsDigest(t *testing.T) {
	archive, digest := build(t)
	files := map[string][]byte{}
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name], _ = io.ReadAll(reader)
	}
	var index struct{ Manifests []descriptor }
	if err := json.Unmarshal(files["index.json"], &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Manifests) != 1 || index.Manifests[0].Digest != digest {
		t.Fatalf("index.json: %s; image.json says %s", files["index.json"], digest)
	}
	text := files["blobs/sha256/"+digest[len("sha256:"):]]
	if describe("", text).Digest != digest {
		t.Error("the manifest's bytes do not have its digest")
	}
	var manifest struct{ Layers []descriptor }
	if err := json.Unmarshal(text, &manifest); err != nil || len(manifest.Layers) != 2 {
		t.Fatalf("expected two layers: %s (%v)", text, err)
	}
	for i, path := range []string{"lib/part", "bin/program"} {
		layer := files["blobs/sha256/"+manifest.Layers[i].Digest[len("sha256:"):]]
		if names := names(t, layer); !slices.Contains(names, path) {
			t.Errorf("layer %d: expected %s, found %v", i, path, names)
		}
	}
	if name := index.Manifests[0].Annotations[containerd]; name != "tare.local/example:1" {
		t.Errorf("containerd would import it as %q", name)
	}
}

func TestATreeMayBeTheWholeImage(t *testing.T) {
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	layer, err := buildLayer(map[string]string{"/": tree})
	if err != nil {
		t.Fatal(err)
	}
	if found := names(t, layer); !slices.Equal(found, []string{"tmp/", "file"}) {
		t.Errorf("expected tmp/ and file, found %v", found)
	}
}

func names(t *testing.T, archive []byte) (names []string) {
	t.Helper()
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, header.Name)
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	if _, err := buildLayer(map[string]string{"/a": "/nowhere/file"}); err == nil {
		t.Error("no error")
	}
}
