# Walks the forwarding tables that opensm wrote over the cables of a topology file, from the switch of
# every HCA to every other HCA of another server. Prints
#
#   pairs unreachable mean_switches most_switches
#
# and writes for each port that leads from switch to switch its switch, a tab and to how many HCAs
# the switch sends by it.
#
#   awk -v routes=FILE -f opensm.awk TOPOLOGY opensm-lfts.dump

# The hexadecimal number before `hex`: ibsim may give port 1 of a device the GUID behind its own.
function before(hex,   digits, i, d) {
  digits = "0123456789abcdef"
  for (i = length(hex); i > 0; i--) {
    d = index(digits, substr(hex, i, 1)) - 1
    if (d > 0) return substr(hex, 1, i - 1) substr(digits, d, 1) substr("ffffffffffffffff", 1, length(hex) - i)
  }
  return hex
}

function bare(id) { sub(/^[SH]-/, "", id); return id }

# A switch as trunkline names it: `spine-2` of `MF0;spine-2:MQM9701/U1`.
function short(text) { sub(/^[^;]*;/, "", text); sub(/:.*/, "", text); return text }

NR == FNR && /^(Switch|Ca|Hca)[ \t]/ {
  split($0, part, "\"")
  at = bare(part[2])
  is_switch = /^Switch/
  if (is_switch) name[at] = short(part[4])
  if (!is_switch) {
    text = part[4]
    # As trunkline groups HCAs: two words, the second ending in a digit, are host and HCA.
    host[at] = text ~ /^[^ ]+ [^ ]*[0-9]$/ ? substr(text, 1, index(text, " ") - 1) : at
    described[host[at]] = described[host[at]] SUBSEP text
  }
  next
}
NR == FNR && /^\[/ {
  port = substr($0, 2, index($0, "]") - 2) + 0
  split($0, part, "\"")
  if (is_switch) {
    to[at, port] = bare(part[2])
    to_switch[at, port] = part[2] ~ /^S/
  } else if (!(at in leaf)) {
    leaf[at] = bare(part[2])
  }
  next
}
NR == FNR { next }

/^Unicast lids/ { split($0, part, "guid 0x"); here = substr(part[2], 1, 16); next }
/portguid/ {
  guid = $0
  sub(/.*portguid 0x/, "", guid)
  guid = substr(guid, 1, 16)
  ca = before(guid) in leaf ? before(guid) : guid
  if (!(ca in leaf)) next
  out[here, ca] = $2 + 0
  if (to_switch[here, $2 + 0]) sent[here, $2 + 0]++
}

# Switches from `at` to `ca`; 0 when the tables do not lead there.
function walk(at, ca,   count) {
  for (count = 1; count < 64; count++) {
    if (!((at, ca) in out)) return 0
    port = out[at, ca]
    if (!to_switch[at, port]) return to[at, port] == ca ? count : 0
    at = to[at, port]
  }
  return 0
}

END {
  for (key in to_switch) {
    split(key, part, SUBSEP)
    if (to_switch[key] && part[1] in name) printf "%s\t%d\n", name[part[1]], sent[key] > routes
  }
  for (b in leaf) {
    split("", known)
    for (a in leaf) {
      if (host[a] == host[b]) continue
      if (!(leaf[a] in known)) known[leaf[a]] = walk(leaf[a], b)
      pairs++
      count = known[leaf[a]]
      if (count == 0) unreachable++
      sum += count
      if (count > most) most = count
    }
  }
  printf "%d %d %.9f %d\n", pairs, unreachable, sum / (pairs - unreachable), most
}
