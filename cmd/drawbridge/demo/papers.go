package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"time"
)

// receipt prints an order as the till does, in the language of the cookie.
func (s *service) receipt(w http.ResponseWriter, r *http.Request) {
	total, thanks := "TOTAL", "Fair winds!"
	if c, err := r.Cookie("locale"); err == nil && c.Value == "de" {
		total, thanks = "SUMME", "Gute Fahrt!"
	}
	s.locked(w, r, func(o *order) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintf(w, "HARBOUR CHANDLERS\n%s\n%s\n", o.OrderNo, strings.Repeat("-", 40))
		for _, l := range o.Lines {
			fmt.Fprintf(w, "%-20s %4d x %12.2f\n", l.SKU, l.Quantity, l.Price)
		}
		fmt.Fprintf(w, "%s\n%-20s %19.2f\n%s\n", strings.Repeat("-", 40), total, o.Total, thanks)
	})
}

// label draws the bits of the order's number as bars.
func (s *service) label(w http.ResponseWriter, r *http.Request) {
	s.locked(w, r, func(o *order) {
		const bar, height = 2, 24
		img := image.NewPaletted(image.Rect(0, 0, len(o.OrderNo)*8*bar, height), color.Palette{color.White, color.Black})
		for x := range img.Rect.Dx() {
			bit := x / bar
			if o.OrderNo[bit/8]&(0x80>>(bit%8)) == 0 {
				continue
			}
			for y := range height {
				img.SetColorIndex(x, y, 1)
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			refuse(w, http.StatusInternalServerError, "the printer is out of paper")
			return
		}
		w.Header().Set("Content-Type", "image/png")
		w.Write(b.Bytes())
	})
}

// salesReport adds up the orders of each day of a span, as comma separated values.
func (s *service) salesReport(w http.ResponseWriter, r *http.Request) {
	var span struct{ From, To string }
	if err := json.Unmarshal([]byte(r.URL.Query().Get("span")), &span); err != nil {
		refuse(w, http.StatusBadRequest, "span is not JSON: "+err.Error())
		return
	}
	from, err1 := time.Parse(time.DateOnly, span.From)
	to, err2 := time.Parse(time.DateOnly, span.To)
	if err1 != nil || err2 != nil || to.Before(from) || to.Sub(from) > 366*24*time.Hour {
		refuse(w, http.StatusUnprocessableEntity, "span goes from one day to a later one, at most a year")
		return
	}
	s.book.mu.Lock()
	defer s.book.mu.Unlock()
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	fmt.Fprintln(w, "day,orders,total")
	for day := from; !day.After(to); day = day.AddDate(0, 0, 1) {
		n, total := 0, 0.0
		for _, o := range s.book.orders {
			if strings.HasPrefix(o.PlacedAt, day.Format(time.DateOnly)) {
				n++
				total += o.Total
			}
		}
		if n > 0 {
			fmt.Fprintf(w, "%s,%d,%.2f\n", day.Format(time.DateOnly), n, total)
		}
	}
}
