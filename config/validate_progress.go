package config

func (l *loader) progress(key string, p *Progress) {
	if !p.On() || !l.ok(key) || l.faulty(key) {
		return
	}
	if *p == (Progress{}) {
		l.errorf(key, "is empty; leave it out")
	}
	if !p.Hide {
		return
	}
	for _, name := range []string{"progress", "total", "message", "log"} {
		if k := key + "." + name; l.given(k) {
			l.errorf(k, "has no effect: hide is true, and nothing is told")
		}
	}
}
