package filetool

import (
	"fmt"
	"mime"
	"strconv"
	"strings"
	"time"

	"drawbridge/gateway/catalog"
	"drawbridge/gateway/filestore"
	"drawbridge/gateway/toolsearch"
	"drawbridge/openapi/jsonscan"
)

// UploadDefinition is that of upload_file.
var UploadDefinition = catalog.NewTool(catalog.Definition{
	Name: Upload, Title: "Upload a file",
	Description: "Says how a local file gets to the gateway without passing through you. Tools that take a file then take its drawbridge-file: URI.",
	Input: []byte(`{"type":"object","properties":{` +
		`"name":{"type":"string"},` +
		`"size":{"type":"integer","description":"Bytes, exactly"},` +
		`"type":{"type":"string","description":"Media type"}},"required":["name","size"]}`),
	Annotations: catalog.Annotations{},
})

// UploadRequest is the file that a call of upload_file announces.
type UploadRequest struct {
	Name, MediaType string
	Size            int64
}

// maxUploadName is the maximum size in bytes of the name of a file, as file systems have it.
const maxUploadName = 255

// ParseUpload reads the arguments of a call of upload_file. maxSize is the maximum size of a file in bytes. The error is a
// [*toolsearch.ArgumentError].
func ParseUpload(args []byte, maxSize int64) (r UploadRequest, err error) {
	var faults []string
	text := func(name string) string {
		switch v := jsonscan.Lookup(args, name); jsonscan.KindOf(v) {
		case jsonscan.String:
			return strings.TrimSpace(string(jsonscan.Unquote(v)))
		case 0, jsonscan.Null:
		default:
			faults = append(faults, name+" must be a string")
		}
		return ""
	}
	r.Name, r.MediaType = text("name"), text("type")
	switch {
	case r.Name == "":
		faults = append(faults, "name must be the name of the file, such as report.pdf")
	case strings.ContainsAny(r.Name, `/\`) || r.Name == "." || r.Name == ".." || strings.ContainsFunc(r.Name, func(c rune) bool { return c < ' ' }):
		faults = append(faults, "name must be the name of a file without a path, such as report.pdf")
	case len(r.Name) > maxUploadName:
		faults = append(faults, fmt.Sprintf("name must have at most %d bytes", maxUploadName))
	}
	if essence, _, err := mime.ParseMediaType(r.MediaType); r.MediaType != "" && (err != nil || !strings.Contains(essence, "/")) {
		faults = append(faults, "type must be a media type such as application/pdf")
	}
	size := jsonscan.Lookup(args, "size")
	n, err := strconv.ParseInt(string(size), 10, 64)
	switch {
	case jsonscan.KindOf(size) != jsonscan.Number || err != nil || n < 0:
		faults = append(faults, "size must be the exact size of the file in bytes")
	case n > maxSize:
		faults = append(faults, fmt.Sprintf("size must be at most %d: this gateway keeps no larger files", maxSize))
	}
	r.Size = n
	if faults != nil {
		return UploadRequest{}, &toolsearch.ArgumentError{Faults: faults}
	}
	return r, nil
}

// UploadCommand returns the answer of upload_file that needs a token of the caller. base is the public URL; "" if it is not known.
func UploadCommand(base string, ttl time.Duration) string {
	url := base
	if url == "" {
		url = "URL"
	}
	return fmt.Sprintf("The file is sent with a token of the user, which you neither need nor should ask for. Let the user run\n\n  drawbridge upload FILE --url %s\n\n"+
		"with the token in DRAWBRIDGE_TOKEN (a program sends the bytes with POST /files and its token). "+
		"It prints the drawbridge-file: URI, which tools take for %s.", url, ttl)
}

// UploadURL returns the answer of upload_file with a URL for an offer.
func UploadURL(base, sealed string, o *filestore.Offer) string {
	file := filestore.File{ID: o.ID}
	return fmt.Sprintf("Send exactly %d bytes with PUT, once and until %s, such as by\n\n  curl -T FILE %s%s%s\n\nThen tools take %s for the file. Show the URL to nobody: it needs no token.",
		o.Size, o.Expires.UTC().Format(time.RFC3339), base, UploadPath, sealed, file.URI())
}

// UploadPath is the path to which files are sent without a token; an offer follows.
const UploadPath = "/files/upload/"
