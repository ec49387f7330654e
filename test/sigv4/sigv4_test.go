package sigv4

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestVectors holds the verifier against requests and signatures of the test suite that AWS has published for the signature: key, date
// and results are facts of it.
func TestVectors(t *testing.T) {
	v := Verifier{
		AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Region: "us-east-1", Service: "service",
		Now: func() time.Time { return time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC) },
	}
	for name, c := range map[string]struct{ method, target, header, body, signed, signature string }{
		"get-vanilla":                 {"GET", "/", "", "", "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		"post-vanilla":                {"POST", "/", "", "", "host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		"get-vanilla-query-order-key": {"GET", "/?Param2=value2&Param1=value1", "", "", "host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		"post-x-www-form-urlencoded":  {"POST", "/", "Content-Type: application/x-www-form-urlencoded", "Param1=value1", "content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.target, strings.NewReader(c.body))
		r.Host, r.Header = "example.amazonaws.com", http.Header{"X-Amz-Date": {"20150830T123600Z"}}
		if field, value, ok := strings.Cut(c.header, ": "); ok {
			r.Header.Set(field, value)
		}
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders="+c.signed+", Signature="+c.signature)
		if err := v.Verify(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
