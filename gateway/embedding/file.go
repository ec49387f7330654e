package embedding

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"drawbridge/gateway/localfile"
)

// A file of vectors consists of a line with its version, a line with the SHA-256 of everything that follows, a line
// with the number of dimensions, and the vectors in the order of their digests: 32 bytes of digest, 4 of the day
// (little endian) and the components. It is written to a temporary file and renamed, so that readers see a complete
// file, and the last of several processes wins.
const (
	formatVersion = "drawbridge vectors 1\n"
	fileSuffix    = ".vectors"
	tempPrefix    = ".writing-" // gateway/diskcache removes those of crashed writers
	dayBytes      = 4
	maxFile       = maxMemory + 1024
)

var errDamaged = errors.New("the file is damaged, or was not written by this version")

// encode encodes all vectors, which have the number of dimensions.
func (s *vectors) encode(dimensions int) []byte {
	var body bytes.Buffer
	fmt.Fprintf(&body, "%d\n", dimensions)
	for _, d := range slices.SortedFunc(maps.Keys(s.all), func(a, b digest) int { return cmp.Compare(string(a[:]), string(b[:])) }) {
		v := s.all[d]
		body.Write(d[:])
		body.Write(binary.LittleEndian.AppendUint32(nil, v.day))
		for _, x := range v.values {
			body.WriteByte(byte(x))
		}
	}
	sum := sha256.Sum256(body.Bytes())
	return append([]byte(formatVersion+hex.EncodeToString(sum[:])+"\n"), body.Bytes()...)
}

// decode parses the output of encode.
func decode(text []byte) (all map[digest]*stored, dimensions int, err error) {
	rest, ok := bytes.CutPrefix(text, []byte(formatVersion))
	line, rest, found := bytes.Cut(rest, []byte("\n"))
	sum := sha256.Sum256(rest)
	if !ok || !found || string(line) != hex.EncodeToString(sum[:]) {
		return nil, 0, errDamaged
	}
	line, rest, _ = bytes.Cut(rest, []byte("\n"))
	if _, err := fmt.Sscanf(string(line), "%d", &dimensions); err != nil || dimensions < 1 || dimensions > maxDimensions {
		return nil, 0, errDamaged
	}
	size := sha256.Size + dayBytes + dimensions
	if len(rest)%size != 0 {
		return nil, 0, errDamaged
	}
	all = make(map[digest]*stored, len(rest)/size)
	for record := range slices.Chunk(rest, size) {
		values := make([]int8, dimensions)
		for i, x := range record[sha256.Size+dayBytes:] {
			values[i] = int8(x)
		}
		v, ok := ofBytes(values)
		if !ok {
			return nil, 0, errDamaged
		}
		all[digest(record[:sha256.Size])] = &stored{v, binary.LittleEndian.Uint32(record[sha256.Size:])}
	}
	return all, dimensions, nil
}

func readFile(path string) ([]byte, error) {
	f, err := localfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return text, err
}

// writeFile writes a file atomically, and removes those of models that have not been used for unusedAge.
func writeFile(path string, text []byte) error {
	if err := localfile.Replace(path, tempPrefix, text); err != nil {
		return err
	}
	removeUnused(filepath.Dir(path))
	return nil
}

// removeUnused removes the files of vectors that no process has touched for unusedAge.
func removeUnused(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		id, ours := strings.CutSuffix(e.Name(), fileSuffix)
		info, err := e.Info()
		if ours && len(id) == hex.EncodedLen(sha256.Size) && err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > unusedAge {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
