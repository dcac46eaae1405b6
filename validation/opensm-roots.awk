# The roots that opensm's updn is to take, as our up-down does, one GUID a line: the switches farthest
# from the HCAs or, where each switch has some, the first of those with the most cables. Left to
# itself updn takes every switch that sees nine tenths of the HCAs at one distance: all leaves of a
# large fabric, too.
#
#   awk -f opensm-roots.awk TOPOLOGY

/^(Switch|Ca|Hca)[ \t]/ {
  split($0, part, "\"")
  at = part[2]
  if (/^Switch/) order[++switches] = at
  next
}
/^\[/ {
  split($0, part, "\"")
  if (at !~ /^S/) next
  cables[at]++
  if (part[2] ~ /^S/) neighbours[at] = neighbours[at] " " part[2]
  else if (!(at in distance)) { distance[at] = 0; open[++last] = at }
}
END {
  for (first = 1; first <= last; first++) {
    at = open[first]
    split(neighbours[at], next_to, " ")
    for (i in next_to) {
      if (next_to[i] in distance) continue
      distance[next_to[i]] = distance[at] + 1
      open[++last] = next_to[i]
    }
  }
  farthest = distance[open[last]]
  for (i = 1; i <= switches; i++) {
    if (farthest > 0 && distance[order[i]] == farthest) print "0x" substr(order[i], 3)
    if (best == "" || cables[order[i]] > cables[best]) best = order[i]
  }
  if (farthest == 0) print "0x" substr(best, 3)
}
