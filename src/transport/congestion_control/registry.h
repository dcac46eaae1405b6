#pragma once

#include <tuple>

#include "transport/congestion_control/cubic.h"
#include "transport/congestion_control/dcqcn.h"
#include "transport/congestion_control/dctcp.h"
#include "transport/congestion_control/hpcc.h"
#include "transport/congestion_control/ib_cc.h"
#include "transport/congestion_control/none.h"
#include "transport/congestion_control/nscc.h"
#include "transport/congestion_control/swift.h"
#include "transport/congestion_control/timely.h"

namespace trunkline::congestion {

// Every congestion control that there is: a new one is a file and a name here.
using Policies = std::tuple<None, Dcqcn, Timely, Dctcp, Hpcc, Swift, Nscc, Cubic, IbCc>;

}  // namespace trunkline::congestion
