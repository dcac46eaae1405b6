#pragma once

#include "trunkline/fabric/fabric.h"

namespace trunkline {

// Whether every shortest path between two ends goes up through the tiers of switches and then down:
// so it is where switches are cabled to the tier above and below only, ends to leaves, and of the
// leaves that hang together below a tier's switches some one switch of this tier is above all. Then
// leaves that meet first at tier h are 2(h - 1) cables apart, which leaves no room for a way that
// goes down and up again. False: not known, as where cables are missing. In time linear in cables.
[[nodiscard]] bool GoesUpThenDown(const Fabric& fabric);

}  // namespace trunkline
