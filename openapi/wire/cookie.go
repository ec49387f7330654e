package wire

import "unicode/utf8"

// appendCookieText appends text unchanged (style cookie of OAS 3.2), and refuses bytes that are not cookie-octets of
// RFC 6265 section 4.1.1 (R7). The style form, which is the default, percent-encodes instead.
func appendCookieText(dst, text []byte) ([]byte, error) {
	for _, b := range text {
		switch {
		case b >= utf8.RuneSelf:
			return dst, refuse("must contain ASCII characters only: it is sent as a cookie")
		case classes[b]&cookieOctet == 0:
			return dst, refuse("must not contain %q: it is sent as a cookie", rune(b))
		}
	}
	return append(dst, text...), nil
}
