package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestLatin checks that readings are those that readers of the script expect, and that ambiguous results are reported
// (pains row 131).
func TestLatin(t *testing.T) {
	for _, c := range []struct {
		given, want string
		lost        bool
	}{
		{"listOrders", "listOrders", false},
		{"a b/{c}", "a b/{c}", false},
		{"código", "codigo", false},
		{"co\u0301digo", "codigo", false}, // decomposed
		{"Größe", "Grosse", false},
		{"smørrebrød-łódź", "smorrebrod-lodz", false},
		{"đơn hàng", "don hang", false},
		{"Ｕｓｅｒ１", "User1", false}, // full-width
		{"m²", "m2", false},
		{"Foo™ (beta) – x", "Foo™ (beta) – x", false},
		{"创建订单", "chuang jian ding dan", true},
		{"价格技术汉", "jia ge ji shu han", true}, // where the table of unidecode has rare readings
		{"用户User列表2", "yong hu User lie biao 2", true},
		{"注文を作成する", "zhu wen wo zuo cheng suru", true},
		{"ショッピングカート", "shoppingukato", true},
		{"ファイルのアップロード", "fairunoappurodo", true},
		{"チェック", "chekku", true},
		{"ジョブ", "jobu", true},
		{"ヴァージョン", "vajon", true},
		{"パーティー", "pati", true},
		{"ウェブ", "webu", true},
		{"マッチ", "matchi", true},
		{"ちゅうもん", "chuumon", true},
		{"ﾕｰｻﾞｰ", "yuza", true}, // half-width
		{"주문생성", "jumunsaengseong", true},
		{"사용자 목록", "sayongja mogrog", true},
		{"СоздатьЗаказ", "SozdatZakaz", true},
		{"объявление", "obiavlenie", true},
		{"Δημιουργία παραγγελίας", "Demiourgia paraggelias", true},
		{"สร้าง", "sraang", true},
		{"😀", "😀", false},
		{"", "", false},
	} {
		got, lost := Latin(c.given)
		if got != c.want || lost != c.lost {
			t.Errorf("%q became %q, %v; want %q, %v", c.given, got, lost, c.want, c.lost)
		}
	}
}

// TestCommonReadings: the most common characters have the readings of daily use.
func TestCommonReadings(t *testing.T) {
	got, _ := Latin("订单用户商品价格支付退款新增修改删除查询列表详情接口银行广告种类万离线")
	const want = "ding dan yong hu shang pin jia ge zhi fu tui kuan xin zeng xiu gai shan chu cha xun lie biao xiang qing jie kou yin xing guang gao zhong lei wan li xian"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzLatin(f *testing.F) {
	for _, s := range []string{"a", "创建", "ッ", "ァ", "ーー", "ょ", "\u0301", "ﾊﾟ", "\xff", "한", "ьъ", "½①"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, lost := Latin(s)
		if strings.ContainsFunc(out, func(r rune) bool { return r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) }) {
			t.Errorf("%q became %q", s, out)
		}
		if !NeedsLatin(s) && (out != s || lost) {
			t.Errorf("%q became %q, %v", s, out, lost)
		}
		if again, lost := Latin(out); again != out || lost {
			t.Errorf("%q became %q, then %q", s, out, again)
		}
	})
}
