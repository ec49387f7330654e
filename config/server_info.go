package config

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Info is the identity of the gateway for clients and their users. Each protocol revision gets the keys that it knows:
// title from 2025-06-18 on; description, icons and website from 2025-11-25 on.
type Info struct {
	// The name for programs, at most 64 bytes.
	Name string `yaml:"name,omitempty" absent:"drawbridge" length:"64"`
	// The name that clients show, at most 200 bytes.
	Title string `yaml:"title,omitempty" absent:"Drawbridge" length:"200"`
	// The purpose of the tools, for users, at most 1024 bytes.
	Description string `yaml:"description,omitempty" absent:"none" length:"1024"`
	// Icons, at most 8. A string is short for a mapping with src.
	Icons []Icon `yaml:"icons,omitempty" absent:"none" empty:"leave it out" count:"8 icons"`
	// The page about the service: https, or http for a loopback host.
	Website *URL `yaml:"website,omitempty" absent:"none" https:""`
}

// Icon is a picture that clients may show.
type Icon struct {
	// An https URL, or a data: URL in base64 of at most 32 KiB.
	Src string `yaml:"src" required:"true"`
	// image/png, image/jpeg, image/webp or image/svg+xml.
	MIMEType string `yaml:"mime_type,omitempty" absent:"that of a data: URL, else unknown"`
	// Sizes, such as 48x48, or any for scalable icons.
	Sizes []string `yaml:"sizes,omitempty" absent:"any size"`
	// The background for which the icon is made.
	Theme IconTheme `yaml:"theme,omitempty" absent:"both"`
}

// IconTheme is a background of icons.
type IconTheme string

func (IconTheme) values() []string { return []string{"light", "dark"} }

func (i *Icon) short() short {
	return short{value: &i.Src, expects: "the address of an icon, or a mapping with src"}
}

// Over returns the identity with what is missing taken from another. The receiver may be nil.
func (i *Info) Over(other *Info) Info {
	var both Info
	for _, from := range []*Info{other, i} {
		if from == nil {
			continue
		}
		to, values := reflect.ValueOf(&both).Elem(), reflect.ValueOf(from).Elem()
		for n := range values.NumField() {
			if !values.Field(n).IsZero() {
				to.Field(n).Set(values.Field(n))
			}
		}
	}
	return both
}

// Limits of an icon, in bytes.
const (
	maxIcon    = 32 << 10 // a data: URL
	maxIconURL = 2 << 10  // another one
)

var iconSize = regexp.MustCompile(`\A([1-9][0-9]{0,4}x[1-9][0-9]{0,4}|any)\z`)

// iconTypes are the types of pictures that clients show.
func iconTypes() []string {
	return []string{"image/png", "image/jpeg", "image/webp", "image/svg+xml"}
}

func (i *Icon) validate(c cursor) {
	src := "src"
	if !c.given(src) {
		src = ""
	}
	if i.MIMEType != "" && c.ok("mime_type") && !slices.Contains(iconTypes(), i.MIMEType) {
		c.errorf("mime_type", "must be one of %s", strings.Join(iconTypes(), ", "))
	}
	if i.Src != "" && c.ok(src, "") {
		media, err := checkIcon(i.Src)
		switch {
		case err != nil:
			c.errorf(src, "%s", err)
		case media != "" && i.MIMEType != "" && media != i.MIMEType:
			c.errorf("mime_type", "is %s, and the data: URL has %s", i.MIMEType, media)
		case media != "":
			i.MIMEType = media
		}
	}
	for n, size := range i.Sizes {
		if at := c.item("sizes", n); c.ok(at) && !iconSize.MatchString(size) {
			c.errorf(at, "%s is not a size: write 48x48, or any", quote(size))
		}
	}
}

// checkIcon returns the type of an icon in a data: URL, "" for another URL.
func checkIcon(src string) (media string, err error) {
	rest, inline := strings.CutPrefix(src, "data:")
	if !inline {
		u, err := url.Parse(src)
		switch {
		case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil:
			return "", errors.New("must be an https URL without a user, or a data: URL")
		case len(src) > maxIconURL:
			return "", fmt.Errorf("has %d bytes, more than %d", len(src), maxIconURL)
		}
		return "", nil
	}
	if len(src) > maxIcon {
		return "", fmt.Errorf("has %d bytes, more than %d: give an https URL", len(src), maxIcon)
	}
	head, data, found := strings.Cut(rest, ",")
	head, encoded := strings.CutSuffix(head, ";base64")
	if media, _, err = mime.ParseMediaType(head); err != nil || !found || !encoded || !slices.Contains(iconTypes(), media) {
		return "", fmt.Errorf("must begin with data:TYPE;base64, and TYPE must be one of %s", strings.Join(iconTypes(), ", "))
	}
	picture, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", errors.New("is not valid base64")
	}
	if !isPicture(media, picture) {
		return "", fmt.Errorf("does not have the content of %s", media)
	}
	return media, nil
}

// isPicture reports whether bytes begin as pictures of the type do.
func isPicture(media string, data []byte) bool {
	switch media {
	case "image/png":
		return bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n"))
	case "image/jpeg":
		return bytes.HasPrefix(data, []byte("\xff\xd8\xff"))
	case "image/webp":
		return len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	return bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("<svg"))
}
