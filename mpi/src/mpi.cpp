#include <ooc/mpi.hpp>

#include <ooc/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ooc::mpi {

namespace {

// A long message is sent in pieces, since MPI counts bytes in an int.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;
constexpr int last_piece = 0, more_follow = 1;  // tags

void require(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error(ErrorKind::device, std::string(what) + " failed",
              {.why = std::string(text.data(), static_cast<std::size_t>(length))});
}

/// Returns the number of processes that a launcher has started; 1 if it does not tell.
std::size_t launched_processes() {
  std::size_t most = 1;
  for (const char* const name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    std::size_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    most = std::max(most, count);
  }
  return most;
}

/// Throws Error(usage) if several processes were started but MPI connects none of them: each would
/// do the whole work and write the same files.
void require_together(int size) {
  const std::size_t launched = launched_processes();
  if (size != 1 || launched == 1) return;
  throw Error(ErrorKind::usage,
              "this process is one of " + std::to_string(launched) + ", and MPI knows of one",
              {.why = "the launcher is of another MPI than the program",
               .hint = "start it with the mpirun of the MPI that it was built with, or with srun "
                       "--mpi=pmix"});
}

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm processes) {
    int is_initialised = 0;
    require(MPI_Initialized(&is_initialised), "MPI_Initialized");
    if (is_initialised == 0) {
      int provided = 0;
      require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
      finalises_ = true;
    }
    require(MPI_Comm_dup(processes, &processes_), "MPI_Comm_dup");
    require(MPI_Comm_set_errhandler(processes_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    require(MPI_Comm_rank(processes_, &rank_), "MPI_Comm_rank");
    require(MPI_Comm_size(processes_, &size_), "MPI_Comm_size");
    require_together(size_);
    arriving_.resize(size());
  }

  std::size_t rank() const noexcept override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const noexcept override { return static_cast<std::size_t>(size_); }

  std::string host() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    require(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
    return {name.data(), static_cast<std::size_t>(length)};
  }

  void send(std::size_t to, std::vector<std::byte> bytes) override {
    const auto message = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    std::size_t sent = 0;
    do {
      const std::size_t count = std::min(message->size() - sent, piece_bytes);
      const bool is_last = sent + count == message->size();
      Sending& sending = sending_.emplace_back(Sending{message, MPI_REQUEST_NULL});
      require(
          MPI_Isend(message->data() + sent, static_cast<int>(count), MPI_BYTE, static_cast<int>(to),
                    is_last ? last_piece : more_follow, processes_, &sending.request),
          "MPI_Isend");
      sent += count;
    } while (sent < message->size());
  }

  std::optional<RankMessage> receive() override {
    forget_sent();
    for (;;) {
      int has_arrived = 0;
      MPI_Message piece = MPI_MESSAGE_NULL;
      MPI_Status status{};
      require(MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, processes_, &has_arrived, &piece, &status),
              "MPI_Improbe");
      if (has_arrived == 0) return std::nullopt;
      int count = 0;
      require(MPI_Get_count(&status, MPI_BYTE, &count), "MPI_Get_count");
      const auto from = static_cast<std::size_t>(status.MPI_SOURCE);
      std::vector<std::byte>& bytes = arriving_[from];
      const std::size_t before = bytes.size();
      bytes.resize(before + static_cast<std::size_t>(count));
      require(MPI_Mrecv(bytes.data() + before, count, MPI_BYTE, &piece, MPI_STATUS_IGNORE),
              "MPI_Mrecv");
      if (status.MPI_TAG == last_piece) return RankMessage{from, std::exchange(bytes, {})};
    }
  }

  void close() override {
    for (Sending& each : sending_) {
      require(MPI_Wait(&each.request, MPI_STATUS_IGNORE), "MPI_Wait");
    }
    sending_.clear();
    require(MPI_Comm_free(&processes_), "MPI_Comm_free");
    if (finalises_) require(MPI_Finalize(), "MPI_Finalize");
  }

 private:
  struct Sending {
    std::shared_ptr<const std::vector<std::byte>> message;
    MPI_Request request;
  };

  void forget_sent() {
    for (auto each = sending_.begin(); each != sending_.end();) {
      int is_sent = 0;
      require(MPI_Test(&each->request, &is_sent, MPI_STATUS_IGNORE), "MPI_Test");
      each = is_sent != 0 ? sending_.erase(each) : std::next(each);
    }
  }

  MPI_Comm processes_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool finalises_ = false;
  std::list<Sending> sending_{};                    // a list, since a pending request must not move
  std::vector<std::vector<std::byte>> arriving_{};  // pieces of unfinished messages, for each rank
};

}  // namespace

std::unique_ptr<Communicator> communicator(MPI_Comm processes) {
  return std::make_unique<MpiCommunicator>(processes);
}

}  // namespace ooc::mpi
