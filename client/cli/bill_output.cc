#include "client/cli/bill_output.h"

#include <ostream>

#include "client/cli/output.h"

namespace espalier {

void PrintBill(std::ostream& out, const v1::ListServersResponse& servers) {
  Table table({"team", "weight", "slots now", "device time used", "of that shared", "saved by sharing"});
  for (const v1::TeamBill& bill : servers.teams()) {
    table.AddRow({bill.team(), FormatNumber(bill.weight()), FormatNumber(bill.slots()),
                  FormatDuration(bill.device_seconds()), FormatDuration(bill.shared_seconds()),
                  FormatDuration(bill.saved_seconds())});
  }
  table.Print(out);
}

Json BillInJson(const v1::ListServersResponse& servers) {
  Json bills = Json::Array();
  for (const v1::TeamBill& bill : servers.teams()) {
    bills.Append(Json::Object({{"team", bill.team()},
                               {"weight", bill.weight()},
                               {"slots", bill.slots()},
                               {"device_seconds", bill.device_seconds()},
                               {"shared_seconds", bill.shared_seconds()},
                               {"saved_seconds", bill.saved_seconds()}}));
  }
  return bills;
}

}  // namespace espalier
