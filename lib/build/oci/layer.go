package main

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

var epoch = time.Unix(1, 0)

// buildLayer returns a tar of the given files and folders: sorted, owned by root, of one date.
func buildLayer(files map[string]string) ([]byte, error) {
	var buffer bytes.Buffer
	layer := &layerWriter{archive: tar.NewWriter(&buffer), folders: map[string]bool{"": true}}
	if err := layer.folder("tmp", 0o1777); err != nil {
		return nil, err
	}
	destinations := make([]string, 0, len(files))
	for destination := range files {
		destinations = append(destinations, destination)
	}
	sort.Strings(destinations)
	for _, destination := range destinations {
		if err := layer.tree(files[destination], strings.Trim(destination, "/")); err != nil {
			return nil, err
		}
	}
	if err := layer.archive.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

type layerWriter struct {
	archive *tar.Writer
	folders map[string]bool
}

// folder writes a folder and those above it, once each.
func (l *layerWriter) folder(path string, mode int64) error {
	if l.folders[path] {
		return nil
	}
	if parent := filepath.Dir(path); parent != "." {
		if err := l.folder(parent, 0o755); err != nil {
			return err
		}
	}
	l.folders[path] = true
	return l.archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: mode, ModTime: epoch})
}

func (l *layerWriter) tree(source, destination string) error {
	return filepath.WalkDir(source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		name := filepath.Join(destination, relative)
		if name == "." { // the image's root, which every layer has
			return nil
		}
		if entry.IsDir() {
			return l.folder(name, 0o755)
		}
		if parent := filepath.Dir(name); parent != "." {
			if err := l.folder(parent, 0o755); err != nil {
				return err
			}
		}
		return l.file(path, name, entry)
	})
}

func (l *layerWriter) file(path, name string, entry fs.DirEntry) error {
	if entry.Type()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return l.archive.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777, ModTime: epoch})
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(content)), Mode: 0o644 | int64(info.Mode()&0o111), ModTime: epoch}
	if err := l.archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = l.archive.Write(content)
	return err
}
