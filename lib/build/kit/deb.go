package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const arHeader = 60

// topLevel are the folders that a merged-/usr system keeps below /usr.
var topLevel = []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"}

// unpackDeb unpacks the data member of a Debian package.
func unpackDeb(out, file string) error {
	archive, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(archive, []byte("!<arch>\n")) {
		return fmt.Errorf("not a Debian package: no ar header")
	}
	for rest := archive[8:]; len(rest) >= arHeader; {
		name := strings.TrimRight(strings.TrimSpace(string(rest[:16])), "/")
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if err != nil || arHeader+size > len(rest) {
			return fmt.Errorf("member %q: bad ar header", name)
		}
		if strings.HasPrefix(name, "data.tar") {
			data, err := decompress(filepath.Ext(name), rest[arHeader:arHeader+size])
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return untar(out, data)
		}
		size += size & 1
		rest = rest[min(arHeader+size, len(rest)):]
	}
	return fmt.Errorf("no data member")
}

func decompress(extension string, data []byte) (io.Reader, error) {
	reader := bytes.NewReader(data)
	switch extension {
	case ".xz":
		return newXZ(reader)
	case ".gz":
		return gzip.NewReader(reader)
	case ".tar":
		return reader, nil
	}
	return nil, fmt.Errorf("compression %s: expected .xz, .gz or none", extension)
}

// usr gives the place of a path in a merged-/usr system.
func usr(path string) string {
	for _, folder := range topLevel {
		if path == folder || strings.HasPrefix(path, folder+"/") {
			return "usr/" + path
		}
	}
	return path
}

func untar(out string, data io.Reader) error {
	archive := tar.NewReader(data)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := extract(out, header, archive); err != nil {
			return fmt.Errorf("%s: %w", header.Name, err)
		}
	}
}

func extract(out string, header *tar.Header, content io.Reader) error {
	name := usr(filepath.Clean("/" + header.Name)[1:])
	path := filepath.Join(out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o755)
	case tar.TypeReg:
		return writeFile(path, fs.FileMode(header.Mode), content)
	case tar.TypeSymlink:
		target := header.Linkname
		if filepath.IsAbs(target) { // stay inside the tree
			var err error
			if target, err = filepath.Rel("/"+filepath.Dir(name), "/"+usr(target[1:])); err != nil {
				return err
			}
		}
		return replace(path, func() error { return os.Symlink(target, path) })
	case tar.TypeLink:
		target := filepath.Join(out, usr(filepath.Clean("/" + header.Linkname)[1:]))
		return replace(path, func() error { return os.Link(target, path) })
	}
	return fmt.Errorf("type %q: expected a file, folder or link", header.Typeflag)
}

// writeFile writes a file with the two modes that the store keeps: with or without exec bits.
func writeFile(path string, mode fs.FileMode, content io.Reader) error {
	return replace(path, func() error {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644|mode&0o111)
		if err != nil {
			return err
		}
		if _, err := io.Copy(file, content); err != nil {
			file.Close()
			return err
		}
		return file.Close()
	})
}

// replace runs create after removing what stands at path: a later package wins.
func replace(path string, create func() error) error {
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	return create()
}

func linkTopLevel(out string) error {
	for _, folder := range topLevel {
		if _, err := os.Stat(filepath.Join(out, "usr", folder)); err != nil {
			continue
		}
		if err := os.Symlink("usr/"+folder, filepath.Join(out, folder)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	return nil
}
