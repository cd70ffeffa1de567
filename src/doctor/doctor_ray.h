#pragma once

#include <string>
#include <vector>

#include "doctor/doctor_checks.h"
#include "doctor/raylet.h"

namespace tacho {

// Looks at the Ray nodes of this host: at the reports that nsys wrote for workers with "nsight" in
// their runtime_env, and at what Ray needs for that. `nsys`: the path of an nsys that is installed
// here, "" if none is. Without a Ray node adds nothing at all.
void ExamineRaylets(const std::string& nsys, Examination& examination);
// The same for one raylet, with the processes of nsys that record or write there. Reads the node's
// folder of reports and the folders of its $PATH.
void ExamineRaylet(const Raylet& raylet, const std::vector<NsysRun>& runs, const std::string& nsys,
                   Examination& examination);

}  // namespace tacho
