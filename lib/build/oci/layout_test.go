package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
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
		"files":  map[string]string{"/bin/program": program},
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
	if manifest := files["blobs/sha256/"+digest[len("sha256:"):]]; describe("", manifest).Digest != digest {
		t.Error("the manifest's bytes do not have its digest")
	}
	if name := index.Manifests[0].Annotations[containerd]; name != "tare.local/example:1" {
		t.Errorf("containerd would import it as %q", name)
	}
}

func TestAMissingFileIsNamed(t *testing.T) {
	if _, err := buildLayer(map[string]string{"/a": "/nowhere/file"}); err == nil {
		t.Error("no error")
	}
}
