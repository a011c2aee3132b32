package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"time"
)

// Media types and annotations of the OCI image specification 1.0; layers are stored
// uncompressed, which is what makes an import quick.
const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar"
	refName       = "org.opencontainers.image.ref.name"
	containerd    = "io.containerd.image.name"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func describe(mediaType string, blob []byte) descriptor {
	sum := sha256.Sum256(blob)
	return descriptor{MediaType: mediaType, Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: len(blob)}
}

// writeLayout writes the archive and returns the digest of the image's manifest.
func writeLayout(path string, image description, layers [][]byte) (string, error) {
	descriptors := make([]descriptor, len(layers))
	diffs := make([]string, len(layers))
	for i, layer := range layers {
		descriptors[i] = describe(mediaLayer, layer)
		diffs[i] = descriptors[i].Digest
	}
	config, err := json.Marshal(map[string]any{
		"architecture": "amd64",
		"os":           "linux",
		"created":      epoch.UTC().Format(time.RFC3339),
		"config":       image.Config,
		"rootfs":       map[string]any{"type": "layers", "diff_ids": diffs},
	})
	if err != nil {
		return "", err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2,
		"mediaType":     mediaManifest,
		"config":        describe(mediaConfig, config),
		"layers":        descriptors,
	})
	if err != nil {
		return "", err
	}
	entry := describe(mediaManifest, manifest)
	entry.Annotations = map[string]string{containerd: image.Name, refName: image.Name[strings.LastIndex(image.Name, ":")+1:]}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": mediaIndex, "manifests": []descriptor{entry}})
	if err != nil {
		return "", err
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	archive := tar.NewWriter(file)
	write := func(name string, content []byte) {
		if err == nil {
			err = archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), ModTime: epoch})
		}
		if err == nil {
			_, err = archive.Write(content)
		}
	}
	write("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	write("index.json", index)
	for _, blob := range append([][]byte{manifest, config}, layers...) {
		write("blobs/sha256/"+strings.TrimPrefix(describe("", blob).Digest, "sha256:"), blob)
	}
	if err != nil {
		return "", err
	}
	if err := archive.Close(); err != nil {
		return "", err
	}
	return entry.Digest, file.Close()
}
