package openapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"drawbridge/openapi/fetch"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// TestDocumentCharset checks that a document is decoded by the charset that the server names, unless it is valid UTF-8;
// without a known label, by its bytes (pains row 144).
func TestDocumentCharset(t *testing.T) {
	const utf8 = "the text is read in the charset %, which the server names; JSON and YAML documents should be UTF-8"
	for _, tt := range []struct {
		name, contentType string
		encoding          encoding.Encoding
		title, problem    string // of the label; "" if there is none
	}{
		{"GBK", "application/json;charset=GBK", simplifiedchinese.GBK, "订单服务", strings.Replace(utf8, "%", `"gbk"`, 1)},
		{"GB2312 in quotes", `text/plain; charset="gb2312"`, simplifiedchinese.GBK, "订单服务", strings.Replace(utf8, "%", `"gb2312"`, 1)},
		{"beyond GBK", "application/json;charset=gbk", simplifiedchinese.GB18030, "订单㐀", strings.Replace(utf8, "%", `"gbk"`, 1)},
		{"Big5", "application/yaml; charset=Big5", traditionalchinese.Big5, "訂單服務", strings.Replace(utf8, "%", `"big5"`, 1)},
		{"Shift_JIS", "application/yaml; charset=Shift_JIS", japanese.ShiftJIS, "注文", strings.Replace(utf8, "%", `"shift_jis"`, 1)},
		{"ISO-2022-JP", "application/yaml; charset=ISO-2022-JP", japanese.ISO2022JP, "注文", strings.Replace(utf8, "%", `"iso-2022-jp"`, 1)},
		{"EUC-KR", "application/yaml; charset=EUC-KR", korean.EUCKR, "주문", strings.Replace(utf8, "%", `"euc-kr"`, 1)},
		{"Windows-1251", "application/yaml; charset=windows-1251", charmap.Windows1251, "Заказы", strings.Replace(utf8, "%", `"windows-1251"`, 1)},
		{"Latin-1", "application/json;charset=ISO-8859-1", charmap.ISO8859_1, "Größe", strings.Replace(utf8, "%", `"iso-8859-1"`, 1)},
		{"UTF-8 under the name of another", "application/json;charset=ISO-8859-1", encoding.Nop, "Größe", ""},
		{"ASCII", "application/json;charset=GBK", encoding.Nop, "Orders", ""},
		{"UTF-8", "application/json;charset=utf-8", encoding.Nop, "订单服务", ""},
		{"unknown", "application/json;charset=x-ours", simplifiedchinese.GBK, "订单服务", `the server names the charset "x-ours", which is unknown; the text is read by what its bytes look like`},
		{"one that is no more", "application/json;charset=hz-gb-2312", encoding.Nop, "Größe", `the server names the charset "hz-gb-2312", which is unknown; the text is read by what its bytes look like`},
		{"none", "application/json", japanese.ShiftJIS, "注文サービス", ""},
		{"another than it is", "application/json; charset=utf-8", simplifiedchinese.GBK, "订单服务", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, err := tt.encoding.NewEncoder().String("openapi: 3.0.3\ninfo: {title: \"" + tt.title + "\", version: '1'}\npaths: {}\n")
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.contentType)
				w.Write([]byte(text))
			}))
			defer server.Close()
			o := LoadOptions{Client: server.Client(), Keep: true}
			doc, err := Load(t.Context(), server.URL, o)
			if err != nil {
				t.Fatal(err)
			}
			if doc.Title != tt.title {
				t.Errorf("title %q, want %q", doc.Title, tt.title)
			}
			if len(doc.problems) > 0 && doc.problems[0].Message != tt.problem && !strings.HasPrefix(doc.problems[0].Message, "the file is not valid UTF-8; it is read as ") ||
				len(doc.problems) == 0 && tt.problem != "" {
				t.Errorf("problems %v, want %q", doc.problems, tt.problem)
			}
			if again, err := LoadCopy(t.Context(), server.URL, doc.Copy, o); err != nil || again.Title != tt.title {
				t.Errorf("the copy: %v", err)
			}
			o.Previous = &doc.Stamp
			if _, err := Load(t.Context(), server.URL, o); !errors.Is(err, fetch.ErrUnchanged) {
				t.Errorf("second load: %v", err)
			}
		})
	}
}

// TestReferredCharset checks that each file that a document refers to has a charset of its own (pains row 144).
func TestReferredCharset(t *testing.T) {
	parameter, err := simplifiedchinese.GBK.NewEncoder().String(`{"name": "fromFile", "in": "query", "description": "订单号码", "schema": {"type": "string"}}`)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/p.json" {
			w.Header().Set("Content-Type", "application/json; charset=GBK")
			w.Write([]byte(parameter))
			return
		}
		w.Write([]byte(referring("p.json")))
	}))
	defer server.Close()
	doc, err := Load(t.Context(), server.URL, LoadOptions{Client: server.Client()})
	if err != nil {
		t.Fatal(err)
	}
	api, err := doc.Compile(t.Context(), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if input := string(api.Operations[0].Input); !strings.Contains(input, "订单号码") {
		t.Errorf("the input is %s", input)
	}
	if len(doc.problems) != 1 || doc.problems[0].Position.File != server.URL+"/p.json" {
		t.Errorf("problems %v", doc.problems)
	}
}
