package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
)

// wheel returns the package of a platform: a wheel (PEP 427) without Python code, whose script is the program. Installers put scripts of
// data/scripts into the folder of programs, and make them executable.
func (r *release) wheel(p platform, program []byte) (file, error) {
	version, err := pythonVersion(r.Version)
	if err != nil {
		return file{}, err
	}
	name := strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(r.PyPI, "_"))
	base := name + "-" + version
	info := base + ".dist-info/"
	tags := ""
	for tag := range strings.SplitSeq(p.Wheel, ".") {
		tags += "Tag: py3-none-" + tag + "\n"
	}
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: %s\nLicense: Apache-2.0\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n%s",
		r.PyPI, version, summary, about)
	entries := []entry{
		{base + ".data/scripts/" + p.program(), program, true},
		{info + "LICENSE", r.License, false},
		{info + "METADATA", []byte(metadata), false},
		{info + "WHEEL", []byte("Wheel-Version: 1.0\nGenerator: drawbridge\nRoot-Is-Purelib: false\n" + tags), false},
	}
	var record strings.Builder
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", e.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(e.data))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	entries = append(entries, entry{info + "RECORD", []byte(record.String()), false})

	data, err := r.zip(entries)
	return file{fmt.Sprintf("%s-py3-none-%s.whl", base, p.Wheel), data}, err
}

func (r *release) zip(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: r.Time}
		h.SetMode(0o644)
		if e.executable {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// The versions that deploy/package/version prints.
var releaseVersion = regexp.MustCompile(`^(\d+\.\d+\.\d+)(?:-(alpha|beta|rc|dev)\.(\d+)(?:\.(g[0-9a-f]+(?:\.dirty)?))?)?$`)

// pythonVersion returns a version as PEP 440 spells it: 1.2.3-rc.1 is 1.2.3rc1, 1.2.4-dev.5.gabc is 1.2.4.dev5+gabc. PyPI does not accept
// the latter, which is not published.
func pythonVersion(version string) (string, error) {
	m := releaseVersion.FindStringSubmatch(version)
	if m == nil {
		return "", fmt.Errorf("version %q: expected one that deploy/package/version prints, such as 1.2.3, 1.2.3-rc.1 or 1.2.4-dev.5.gabc", version)
	}
	python := m[1]
	if m[2] != "" {
		python += map[string]string{"alpha": "a", "beta": "b", "rc": "rc", "dev": ".dev"}[m[2]] + m[3]
	}
	if m[4] != "" {
		python += "+" + m[4]
	}
	return python, nil
}
