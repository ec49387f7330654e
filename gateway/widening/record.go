package widening

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"drawbridge/gateway/localfile"
)

const (
	recordVersion = 2
	maxRecord     = 64 << 20 // bytes
	recordSuffix  = ".access"
	// recordTemp is the prefix for temporary files of documents, so that leftovers of a crashed
	// process are removed together with them.
	recordTemp = ".writing-"
)

type record struct {
	Version int             `json:"version"`
	Summary json.RawMessage `json:"summary"`
}

// RecordFile returns the path of the record of a configuration file in a directory that several
// configurations may share.
func RecordFile(dir, configFile string) string {
	if abs, err := filepath.Abs(configFile); err == nil {
		configFile = abs
	}
	sum := sha256.Sum256([]byte(configFile))
	return filepath.Join(dir, hex.EncodeToString(sum[:])+recordSuffix)
}

// ReadRecord reads a record. The error wraps [os.ErrNotExist] if there is none.
func ReadRecord(path string) (*Summary, error) {
	f, err := localfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return nil, err
	}
	return parseRecord(data)
}

func parseRecord(data []byte) (*Summary, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if r.Version != recordVersion {
		return nil, fmt.Errorf("it is of version %d, and this version of drawbridge reads %d", r.Version, recordVersion)
	}
	var s Summary
	if err := json.Unmarshal(r.Summary, &s); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if len(s.Keys) == 0 {
		return nil, errors.New("it is damaged: it names no keys")
	}
	return &s, nil
}

// Write replaces a record atomically, also if the machine fails.
func (s *Summary) Write(path string) error {
	data, err := json.Marshal(record{recordVersion, encoded(s)})
	if err != nil {
		return err
	}
	return localfile.Replace(path, recordTemp, data)
}
