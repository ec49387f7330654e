package discovery

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"drawbridge/config"
	"drawbridge/openapi/tree"
)

// instanceDocument is what is known of the document that an instance has.
type instanceDocument struct {
	version string // info.version; "" if it is not known
	// digest is that of the text without the address of the instance, which frameworks write into servers.
	digest [sha256.Size]byte
	// operations are the hashes of the operations, sorted; nil if they are not known.
	operations []uint64
	tag        string // the ETag
}

// maxYAML is the most bytes of a document in YAML that is read to compare it: YAML needs many times its size in memory. Larger ones are
// compared by their bytes.
const maxYAML = 1 << 20

// maxCompared is the most operations of a document that are compared.
const maxCompared = 10_000

// maxHeld is the most bytes of a document that are held to compare it. Of a larger one only the bytes are compared: instances are many, and
// so are the services whose instances may be read at a time.
const maxHeld = 4 << 20

// describeBody describes the document in the body of a response; it returns nil if the body is no document.
func describeBody(body io.Reader, address string) (*instanceDocument, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxHeld+1))
	switch {
	case err != nil:
		return nil, err
	case !config.IsDocument(text):
		return nil, errNoDocument
	case len(text) <= maxHeld:
		return describe(text, address), nil
	}
	all := sha256.New()
	_, _ = all.Write(withoutAddress(text, address)) // it never fails
	if _, err := io.Copy(all, body); err != nil {
		return nil, err
	}
	return &instanceDocument{digest: [sha256.Size]byte(all.Sum(nil))}, nil
}

func withoutAddress(text []byte, address string) []byte {
	return bytes.ReplaceAll(text, []byte(address), nil)
}

// describe reads the version and the operations of a document.
func describe(text []byte, address string) *instanceDocument {
	d := &instanceDocument{digest: sha256.Sum256(withoutAddress(text, address))}
	if trimmed := bytes.TrimLeft(bytes.TrimPrefix(text, []byte("\xEF\xBB\xBF")), " \t\r\n"); bytes.HasPrefix(trimmed, []byte("{")) {
		var document struct {
			Info struct {
				Version json.RawMessage `json:"version"`
			} `json:"info"`
			Paths map[string]json.RawMessage `json:"paths"`
		}
		if json.Unmarshal(trimmed, &document) == nil {
			d.version = scalar(document.Info.Version)
			d.addPaths(document.Paths)
		}
		return d
	}
	if len(text) > maxYAML {
		return d
	}
	if root, err := tree.Parse("", text, tree.Limits{}); err == nil {
		d.version = root.Get("info").Get("version").Text()
		for path, item := range root.Get("paths").Members() {
			for method := range item.Members() {
				d.add(method, path)
			}
		}
		d.sort()
	}
	return d
}

func (d *instanceDocument) addPaths(paths map[string]json.RawMessage) {
	for path, item := range paths {
		var members map[string]json.RawMessage
		if json.Unmarshal(item, &members) != nil {
			continue
		}
		for method := range members {
			d.add(method, path)
		}
	}
	d.sort()
}

// add adds an operation. Members of path items that are no methods do no harm: no call has them.
func (d *instanceDocument) add(method, path string) {
	if len(d.operations) <= maxCompared {
		d.operations = append(d.operations, hashOperation(strings.ToUpper(method)+" "+path))
	}
}

// sort ends the list. One that is too long is none: it would lack operations.
func (d *instanceDocument) sort() {
	if d.operations = slices.Sorted(slices.Values(d.operations)); len(d.operations) > maxCompared {
		d.operations = nil
	}
}

// has reports whether the document is known to have an operation.
func (d *instanceDocument) has(operation uint64) bool {
	_, found := slices.BinarySearch(d.operations, operation)
	return found
}

// hashOperation returns the hash of an operation, such as "GET /orders/{id}". A service that makes two of its own equal has its calls go to
// instances that lack one of them.
func hashOperation(operation string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(operation)) // it never fails
	return h.Sum64()
}

// scalar returns a string or number of JSON as text.
func scalar(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
