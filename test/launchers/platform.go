package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// platform is one that the program is built for, as Go names it and as both registries do.
type platform struct {
	OS, Arch       string
	NPMOS, NPMArch string // process.platform and process.arch of Node
	Wheel          string // the platform tags of a wheel, separated by dots
}

// The Linux programs are static, so they run with every C library. Go 1.25 and later need macOS 12.
var platforms = []platform{
	{"linux", "amd64", "linux", "x64", "manylinux_2_17_x86_64.musllinux_1_1_x86_64"},
	{"linux", "arm64", "linux", "arm64", "manylinux_2_17_aarch64.musllinux_1_1_aarch64"},
	{"darwin", "amd64", "darwin", "x64", "macosx_12_0_x86_64"},
	{"darwin", "arm64", "darwin", "arm64", "macosx_12_0_arm64"},
	{"windows", "amd64", "win32", "x64", "win_amd64"},
	{"windows", "arm64", "win32", "arm64", "win_arm64"},
}

// program returns the file name of the program.
func (p platform) program() string {
	if p.OS == "windows" {
		return "drawbridge.exe"
	}
	return "drawbridge"
}

// archive returns the file name of the platform's archive.
func (p platform) archive(version string) string {
	extension := "tar.gz"
	if p.OS == "windows" {
		extension = "zip"
	}
	return fmt.Sprintf("drawbridge_%s_%s_%s.%s", version, p.OS, p.Arch, extension)
}

// programs reads the program of each platform from its archive. A platform without an archive, and an archive without a platform, is an
// error.
func (r *release) programs(archives []string) (map[platform][]byte, error) {
	paths := map[string]string{}
	for _, path := range archives {
		paths[filepath.Base(path)] = path
	}
	programs := map[platform][]byte{}
	var errs []error
	for _, p := range platforms {
		name := p.archive(r.Version)
		path, ok := paths[name]
		if !ok {
			errs = append(errs, fmt.Errorf("there is no %s among the archives", name))
			continue
		}
		delete(paths, name)
		files, err := unpack(path, p.program(), "LICENSE")
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		programs[p] = files[p.program()]
		if r.License == nil {
			r.License = files["LICENSE"]
		}
	}
	for name := range paths {
		errs = append(errs, fmt.Errorf("%s is not an archive of version %s for a known platform", name, r.Version))
	}
	return programs, errors.Join(errs...)
}

// unpack returns the files of an archive that have the given names.
func unpack(path string, names ...string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = nil
	}
	read := unpackTar
	if filepath.Ext(path) == ".zip" {
		read = unpackZip
	}
	if err := read(path, files); err != nil {
		return nil, err
	}
	for name, data := range files {
		if len(data) == 0 {
			return nil, fmt.Errorf("it has no %s", name)
		}
	}
	return files, nil
}

// unpackTar fills in the files that the map has the names of.
func unpackTar(path string, files map[string][]byte) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, wanted := files[h.Name]; !wanted {
			continue
		}
		if files[h.Name], err = io.ReadAll(t); err != nil {
			return err
		}
	}
}

// unpackZip fills in the files that the map has the names of.
func unpackZip(path string, files map[string][]byte) (err error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, z.Close()) }()
	for _, entry := range z.File {
		if _, wanted := files[entry.Name]; !wanted {
			continue
		}
		f, err := entry.Open()
		if err != nil {
			return err
		}
		if files[entry.Name], err = io.ReadAll(f); err != nil {
			return errors.Join(err, f.Close())
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
