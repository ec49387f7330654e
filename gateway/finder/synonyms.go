package finder

import (
	"slices"
	"strings"
)

// synonyms are groups of words that people use for the same thing of an API, one group a line. A word of a query also
// finds the others of its groups, with less weight. They are of everyday speech and of software in general, and of no
// API: words of one API belong into an overlay.
const synonyms = `
app application
auth authentication login signin
avatar photo picture image
balance money
bill invoice
bug issue ticket
buy purchase order
card payment
channel conversation room
chat message conversation
client customer
comment reply note
company organization business
coupon discount promotion voucher
creator author owner
db database
dir directory folder
doc document
dns domain record
email mail
employee staff worker user
env environment
error failure exception
event activity
fee charge
film movie
function lambda
group team
history log event
host server machine node
info information detail
job task run
key token credential
kind type category
k8s kubernetes
label tag
link url
location place address
lock freeze
log output
machine server node host instance
member user participant
money payment amount
msg message
org organization
pause suspend stop
payout transfer
permission role access right
permission grant
person user member people
phone telephone
photo picture image
pr pull
price cost rate
profile account
project repository
quota limit usage
refund repay reimburse
repo repository
reply answer respond
rule policy
schedule calendar cron
secret password credential
settings configuration preferences options config
song track
spec specification
stats statistics analytics metrics
status state
subscribe follow
talk message
test check
ticket issue request case
todo task
user account member
version release
vm instance server droplet machine
volume disk storage
vulnerability advisory alert
website site domain
webhook hook callback
`

// everyday are words of everyday speech and, behind the colon, the words of APIs for the same, which find nothing of them.
const everyday = `
abort halt quit terminate: cancel stop
access: collaborator
act acted actor actress star starred: credit cast
agreement contract lease: document envelope
alarm warn warning: alert
alive healthy: status health
allow permit: approve accept grant
announce inform notify: message notification send
answer: comment
approve: accept grant
arrive: delivery
backup: snapshot export
ban: remove block
band musician singer: artist
begin boot: start create
belong: owner identity
bicycle bike shoe: gear equipment
bin garbage junk rubbish: trash spam delete
book reserve: schedule create
boss chief: manager owner
bot: app application
break: fail error
broken fault: error failure
buy: payment transaction
buyer shopper: customer
canned: template macro
cap: limit quota
cash earning fund: balance money payout
cast: credit person
chap dude folk guy: user person
chargeback complain contest: dispute
cheap cheapest: price
cinema theatre: playing
clean: prune delete
clip: video
clone duplicate: copy fork
code discount: coupon promotion
cold hot warm: temperature observation forecast
colleague coworker employee teammate: user member
combine unite: merge
complaint: ticket issue dispute
compose draft: create write
computer laptop pc: device machine
connect: link
correct fix mend: update edit
cost: usage billing balance
cpu load memory: stats metric usage
crash: restart error
deadline: due date
decline deny refuse: reject
wrong: error
delay: schedule
direction journey trip: route
ditch drop dump erase scrap wipe: delete remove
dm: message conversation
done finish finished: complete completed
down: uptime health status
draw paint: image generate
drive: disk storage
earn salary wage: income payroll
enter: create add
evict expel kick: remove block ban
exchange: convert
exercise jog ride swim workout: activity
fan: follower
favour heart love: favorite favourite like
find: search
flag: mark report
forbid prevent: block restrict protection
forget forgot lost: reset
fork: copy
free: available availability space
gift: reward credit
goal: milestone
happen: event activity
happy satisfied: satisfaction rating
hashtag: tag
headline: title
help: support
hide: mute block
hire open rent: create
holiday vacation: away
hunt seek: search find
hurricane rain snow storm wind: alert forecast
ignore silence: mute block hide
important urgent: priority
income revenue turnover: balance payout report
internet: network
judge: review rating
keep store: save create
kill: delete stop
latest: recent new
leftover: prune unused
letter: mail message
like: favorite favourite
listen listened: play player
listener traffic viewer visitor: view analytics
live online: publish deploy
loud speak spoken: speech audio
louder quieter: volume
maker: creator author owner
mate: friend member
meeting: event
membership: subscription member
move: transfer
music: track song player
mute: block hide
near: location nearby
nearby: location
newcomer: new create
newest: latest recent new
news: feed timeline
offensive: moderation
offer: plan price
overdue unpaid: open due invoice
owe spend spending: cost usage billing balance
page: site website
parcel: shipment package
payslip: payroll paystub
phone speaker: device
piece: part sub
play: player
popular: trend trending
post: status message
print: letter
profit: report
promote: publish
quiet: mute volume
rate: rating
react thumb: reaction like
reboot: restart
receipt: invoice charge
recent: latest new
recommend suggest: recommendation similar suggestion
recording: audio transcription
recover undelete undo: restore revert rollback
relocate shift: move transfer
remark: comment note story
reminder: notification
resend: send
retry: rerun
revert: restore rollback
room: space
run: activity
safe: backup snapshot export
say: message comment
screen: display
sender: author
share: collaboration permission link
shelf: collection library
shell: exec
shop: store
short shorter: shorten
skip: next
slow speed: metric latency performance
smiley: emoji
split: sub
stale: old inactive
stranger: user
subtitle: caption
supplier: contact
talk: conversation
target: goal milestone
tell: message notification
temperature: observation forecast
toot tweet: status post message
train: tuning
trend: trending popular
tune: song track
unused: prune
upcoming: calendar
uptime: health status
vacant: available availability
vendor: contact supplier
visible: visibility
visit: view traffic analytics
wake: start resume
wallet: balance
watch watched: view
weather: forecast observation
worth: price value
write: message comment post create
`

// synonym is the stem of a synonym.
type synonym struct {
	stem  string
	loose bool // from everyday speech, and so of a meaning that may differ
}

// synonymsOf maps the stem of an English word to its synonyms.
var synonymsOf = func() map[string][]synonym {
	all := map[string][]synonym{}
	add := func(from, to string, loose bool) {
		from, to = languages[0].reduce(from), languages[0].reduce(to)
		if from != to && !slices.ContainsFunc(all[from], func(s synonym) bool { return s.stem == to }) {
			all[from] = append(all[from], synonym{to, loose})
		}
	}
	for line := range strings.Lines(synonyms) {
		group := strings.Fields(line)
		for _, word := range group {
			for _, other := range group {
				add(word, other, false)
			}
		}
	}
	for line := range strings.Lines(everyday) {
		of, found, _ := strings.Cut(line, ":")
		for word := range strings.FieldsSeq(of) {
			for other := range strings.FieldsSeq(found) {
				add(word, other, true)
			}
		}
	}
	return all
}()
