package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/textproto"
)

// media adds the routes whose answers are more than text.
func media(mux *http.ServeMux) {
	serve := func(path, mediaType string, body []byte) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", mediaType)
			w.Write(body)
		})
	}
	serve("/image", "image/png", picture())
	serve("/audio", "audio/wav", silence())
	serve("/archive", "application/octet-stream", []byte("\x00 neither text nor picture \xff"))
	mixed, boundary := parts()
	serve("/mixed", "multipart/mixed; boundary="+boundary, mixed)
}

// picture is a PNG of 8 by 8 pixels.
func picture() []byte {
	img := image.NewGray(image.Rect(0, 0, 8, 8))
	img.SetGray(3, 3, color.Gray{Y: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(fmt.Sprintf("conformance: encode a picture: %v", err)) // a buffer takes everything
	}
	return b.Bytes()
}

// parts is a text, a picture and a file in one body.
func parts() (body []byte, boundary string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, part := range []struct {
		mediaType string
		body      []byte
	}{
		{"text/plain; charset=utf-8", []byte("Multiple content types test:")},
		{"image/png", picture()},
		{"application/octet-stream", []byte("\x00 test data \xff")},
	} {
		p, err := w.CreatePart(textproto.MIMEHeader{"Content-Type": {part.mediaType}})
		if err == nil {
			_, err = p.Write(part.body)
		}
		if err != nil {
			panic(fmt.Sprintf("conformance: write a part: %v", err)) // as above
		}
	}
	if err := w.Close(); err != nil {
		panic(fmt.Sprintf("conformance: close the parts: %v", err))
	}
	return b.Bytes(), w.Boundary()
}

// silence is a WAVE file (RIFF, PCM, one channel, 8 kHz, 8 bits) of ten milliseconds.
func silence() []byte {
	samples := make([]byte, 80)
	for i := range samples {
		samples[i] = 128
	}
	le := binary.LittleEndian
	b := append([]byte("RIFF"), le.AppendUint32(nil, uint32(36+len(samples)))...)
	b = append(b, "WAVEfmt "...)
	b = le.AppendUint32(b, 16)
	b = le.AppendUint16(b, 1) // PCM
	b = le.AppendUint16(b, 1) // channels
	b = le.AppendUint32(b, 8000)
	b = le.AppendUint32(b, 8000)
	b = le.AppendUint16(b, 1)
	b = le.AppendUint16(b, 8)
	b = append(b, "data"...)
	b = le.AppendUint32(b, uint32(len(samples)))
	return append(b, samples...)
}
